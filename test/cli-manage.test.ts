/** The commands of the operator on the machine: organizations, keys and users, beside a running service and without one. */
import { describe, expect, test } from "vitest";
import { auth } from "../tools/auth.ts";
import { operator } from "../tools/operator.ts";
import { operatorKey, ownerKey } from "./support/app.ts";
import { expectFailure } from "./support/expect-failure.ts";
import { useProcesses } from "./support/served-process.ts";

const { serve, start } = useProcesses();

async function run(...args: string[]) {
  const process = start(args);
  const status = await new Promise((resolve) => process.child.once("close", resolve));
  return { status, stdout: process.stdout(), stderr: process.stderr() };
}

/** The data that a command prints with --json. */
async function runJson(...args: string[]) {
  const { status, stdout, stderr } = await run(...args, "--json");
  expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
  return JSON.parse(stdout);
}

const shop = ["orgs", "create", "--name", "Shop", "--owner-email", "ada@shop.example", "--owner-name", "Ada"];

describe("beside a running service", () => {
  test("an organization is created and listed, and its owner signs in", async () => {
    const { client } = await serve();
    const created = await run(...shop, "--currency", "EUR", "--time-zone", "Europe/Berlin");
    expect(created).toMatchObject({ status: 0, stderr: "" });
    const [, id = ""] = /Organization +(org_\w+), Shop$/m.exec(created.stdout) ?? [];
    const [, password = ""] = /Owner +ada@shop\.example, password (\S+)$/m.exec(created.stdout) ?? [];
    const [, key = ""] = /API key +(sk_live_\S+)$/m.exec(created.stdout) ?? [];
    const { data } = await client.call(auth.whoami, {}, { key });
    expect(data.organization).toMatchObject({ id, currency: "EUR", time_zone: "Europe/Berlin" });
    const session = await client.call(auth.login, { email: "ada@shop.example", password });
    expect(session.data.user).toMatchObject({ organization_id: id, role: "owner" });
    const listed = await run("orgs", "list", "--search", "sho");
    expect(listed.stdout.split("\n")).toEqual([
      expect.stringMatching(/^ID +STATUS +USERS +INBOXES +CREATED +NAME$/),
      expect.stringMatching(new RegExp(`^${id}  active +1 +1 +\\S+Z +Shop$`)),
      "",
    ]);
    expect(await runJson("orgs", "list")).toMatchObject([
      { id, name: "Shop", status: "active", users: 1 },
      { name: "My organization" },
    ]);
  });

  test("keys of an organization are made, listed and revoked; another's are not found", async () => {
    const { client } = await serve();
    const { organization } = await runJson(...shop);
    const at = ["--organization", organization.id];
    const key = await runJson("keys", "create", "--name", "Bot", "--scopes", "contacts.read", ...at);
    expect(key).toMatchObject({ organization_id: organization.id, scopes: ["contacts:read"] });
    const whoami = () => client.call(auth.whoami, {}, { key: key.secret_key });
    expect((await whoami()).data.organization.id).toBe(organization.id);
    const keys = await runJson("keys", "list", ...at);
    expect(keys).toMatchObject([{ id: key.id, name: "Bot", is_active: true }, { name: "First key" }]);
    expect(JSON.stringify(keys)).not.toContain(key.secret_key);
    const elsewhere = await run("keys", "revoke", key.id);
    expect(elsewhere).toMatchObject({ status: 1, stderr: expect.stringContaining("no key with this id") });
    expect((await run("keys", "revoke", key.id, ...at)).stdout).toBe(`The key ${key.id} is revoked.\n`);
    expect(await expectFailure(whoami())).toMatchObject({ status: 401 });
  });

  test("a user is created, and a reset of the password ends the sessions", async () => {
    const { client } = await serve();
    const user = await runJson("users", "create", "--email", "bea@example.com", "--name", "Bea");
    expect(user).toMatchObject({ role: "agent" });
    const login = (password: string) => client.call(auth.login, { email: "bea@example.com", password });
    const session = await login(user.password);
    const reset = await run("users", "reset-password", "--email", "BEA@example.com");
    const [, password = ""] = /Password +(\S+)$/m.exec(reset.stdout) ?? [];
    expect(await expectFailure(login(user.password))).toMatchObject({ code: "login_failed" });
    const ended = client.call(auth.whoami, {}, { key: session.data.access_token });
    expect(await expectFailure(ended)).toMatchObject({ status: 401 });
    expect((await login(password)).data.user.id).toBe(user.id);
  });

  test("the commands work while the first organization is suspended", async () => {
    const { client } = await serve({ TIDINGS_OPERATOR_KEY: operatorKey });
    const as = { key: operatorKey };
    const [first] = await runJson("orgs", "list");
    await client.call(operator.suspend_organization, { id: first.id, reason: "Test" }, as);
    expect(await runJson("orgs", "list", "--status", "suspended")).toMatchObject([{ id: first.id }]);
    await runJson(...shop);
  });

  test("the route answers to the folder's own key alone", async () => {
    const { address } = await serve({ TIDINGS_OPERATOR_KEY: operatorKey });
    for (const key of [ownerKey, operatorKey, ""]) {
      const answer = await fetch(`${address}/data-folder/commands/list-organizations`, {
        method: "POST",
        headers: { "x-api-key": key, "content-type": "application/json" },
        body: "{}",
      });
      expect(answer.status).toBe(404);
    }
  });
});

test("without a running service, an organization is created that the next service has", async () => {
  await (await serve()).process.end("SIGTERM");
  const { organization, api_key } = await runJson(...shop);
  const { client } = await serve();
  const { data } = await client.call(auth.whoami, {}, { key: api_key.secret_key });
  expect(data.organization.id).toBe(organization.id);
});

describe("what a service rejects", () => {
  test("is explained, with the option, and exits with 2 if the arguments are at fault", async () => {
    await serve();
    expect(await run(...shop, "--currency", "Euro")).toEqual({
      ...{ status: 2, stdout: "" },
      stderr: "tidings: --currency: Send a three-letter currency code (ISO 4217), for example EUR.\n",
    });
    const user = ["users", "create", "--email", "nobody", "--name", "Bea"];
    expect(await run(...user)).toMatchObject({
      ...{ status: 2, stderr: "tidings: --email: Send an e-mail address.\n" },
    });
    await runJson(...shop);
    expect(await run(...shop)).toMatchObject({
      ...{ status: 1, stdout: "" },
      stderr: "tidings: A user with this e-mail address already exists. Use another address.\n",
    });
    expect(await run("keys", "list", "--organization", "org_none")).toMatchObject({
      status: 1,
      stderr: "tidings: There is no organization with this id. Find it with: tidings orgs list\n",
    });
  });
});

test.each([
  [["orgs"], 'There is no command "orgs". Commands: orgs create, orgs list.'],
  [["orgs", "delete"], 'There is no command "orgs delete". Commands: orgs create, orgs list.'],
  [["orgs", "create"], "--name and --owner-email and --owner-name must be given. See --help."],
  [["orgs", "list", "Shop"], "tidings orgs list takes no arguments. Run tidings orgs list --help."],
  [["keys", "revoke"], "tidings keys revoke takes <key id>. Run tidings keys revoke --help."],
  [
    ["users", "reset-password", "--role", "owner"],
    "--role is an option of tidings users create, not of tidings users reset-password.",
  ],
])("%j exits with 2 and says what to do", async (args, message) => {
  expect(await run(...args)).toEqual({ status: 2, stdout: "", stderr: `tidings: ${message}\n` });
});

test.each([
  ["orgs create", "--owner-email <text>"],
  ["orgs list", "--status <text>"],
  ["keys create", "--expires-in-days <text>"],
  ["keys list", "--organization <text>"],
  ["keys revoke", "tidings keys revoke <key id> [options]"],
  ["users create", "--role <text>"],
  ["users reset-password", "--json "],
])("%s has a help of its own", async (command, text) => {
  const { status, stdout } = await run(...command.split(" "), "--help");
  expect({ status, stdout }).toEqual({
    status: 0,
    stdout: expect.stringContaining(`Usage: tidings ${command}`),
  });
  expect(stdout).toContain(text);
});
