/** People and their access: no key, flow or caller through MCP creates or changes them. */
import { expect, test } from "vitest";
import { roleScopes } from "../src/platform/account/identity/index.ts";
import { modules, operationsOf } from "../src/platform/index.ts";
import { allScopes, type Operation, toolMappingsOf } from "../tools/contract/index.ts";
import { useTestApp } from "./support/app.ts";
import { createUserKey, trustedProxyEnv } from "./support/users.ts";

const app = useTestApp({ env: trustedProxyEnv });

const operations = Object.entries(operationsOf()) as [string, Operation][];
const ofPersons = operations.filter(([, { credential }]) => credential === "person");

/** The tables whose rows say who may sign in, and as what. */
const tablesOfPeople = ["users", "rule_sets"] as const;

/** Fields that change what a person may do, or how a person signs in. */
const fieldsOfPeople = ["email", "password", "new_password"];

test("each write of a module that owns people requires a person", () => {
  const ofPeople = Object.values(modules).filter(({ tables }) =>
    tablesOfPeople.some((table) => tables.includes(table)),
  );
  const writes = ofPeople.flatMap(({ contract }) =>
    Object.entries(contract).filter(([, { effect }]) => effect !== "read"),
  );
  expect(writes.map(([name]) => name)).toEqual(["create_user", "update_user", "set_rules"]);
  expect(writes.filter(([, { credential }]) => credential !== "person")).toEqual([]);
});

test("each operation that takes an address or a password requires a person, or proves a password", () => {
  const taking = operations.filter(
    ([, { effect, input }]) =>
      effect !== "read" && Object.keys(input.shape).some((field) => fieldsOfPeople.includes(field)),
  );
  const others = taking.filter(([, { credential }]) => credential !== "person");
  expect(others.map(([name]) => name)).toEqual(["login", "change_password", "change_email"]);
});

test("an operation that requires a person has neither a tool nor another path", () => {
  expect(ofPersons.length).toBeGreaterThan(0);
  for (const [name, operation] of ofPersons) {
    expect(Object.keys(toolMappingsOf(name, operation))).toEqual([]);
    expect(operation.also).toEqual([]);
  }
});

test.each(ofPersons)("%s rejects a key with every scope", async (_, { method, path }) => {
  const key = await createUserKey(app, allScopes);
  const before = await readUsers();
  const body = method === "GET" ? {} : { json: {} };
  const answer = await app.fetch(path.replace(/\{\w+\}/g, "none"), { method, key, ...body });
  expect(answer.status).toBe(403);
  expect(await answer.json()).toMatchObject({ error: { type: "permission", code: "person_required" } });
  expect(await readUsers()).toEqual(before);
});

test.each(ofPersons)("%s can't be called by a tool's name, also with a person's token", async (name) => {
  const key = await app.signOwner();
  const listed = await app.fetch("/v1/mcp/tools/call", {
    method: "POST",
    key,
    json: { name, arguments: {} },
  });
  expect(listed.status).toBe(404);
  expect(await listed.json()).toMatchObject({ error: { code: "tool_not_found" } });
});

test("every role that may change people has every scope", () => {
  const roles = Object.values(roleScopes).filter((scopes) => scopes.includes("tokens:create"));
  expect(roles).toEqual([allScopes, allScopes]);
});

async function readUsers() {
  return app.server.database.queries.selectFrom("users").selectAll().orderBy("id").execute();
}
