/** Roles: a signed-in user may call exactly the operations that the role's scopes permit. */
import { beforeAll, describe, expect, test } from "vitest";
import { operationsOf } from "../src/platform/index.ts";
import { allScopes, type Operation, permits, type Scope } from "../tools/contract/index.ts";
import { useTestApp } from "./support/app.ts";
import { createUserWithRole, signIn, trustedProxyEnv } from "./support/users.ts";

/** A copy of the platform's table, so that a change there fails here. */
const scopesOf: Readonly<Record<"owner" | "admin" | "supervisor" | "agent", readonly Scope[]>> = {
  owner: allScopes,
  admin: allScopes,
  supervisor: [
    "contacts:read",
    "contacts:write",
    "contacts:manage",
    "inbox:read",
    "inbox:write",
    "broadcasts:read",
    "broadcasts:create",
    "templates:read",
    "templates:create",
    "templates:manage",
  ],
  agent: [
    "contacts:read",
    "contacts:write",
    "inbox:read",
    "inbox:write",
    "broadcasts:read",
    "templates:read",
  ],
};
const roles = Object.keys(scopesOf) as (keyof typeof scopesOf)[]; // the keys of the literal above

const guarded = Object.entries(operationsOf()).filter(([, { credential }]) => credential !== "none");

const app = useTestApp({ env: trustedProxyEnv });
const tokens = new Map<string, string>();
beforeAll(async () => {
  for (const role of roles) {
    const { email } = await createUserWithRole(app, role);
    tokens.set(role, (await signIn(app, email)).access_token);
  }
});

const request = (role: string, method: string, path: string, json?: object) =>
  app.fetch(path, {
    method,
    key: null,
    headers: { authorization: `Bearer ${tokens.get(role)}` },
    ...(json === undefined ? {} : { json }),
  });

/** Calls the operation without input. */
function attempt(role: string, { method, path, waits }: Operation) {
  const filled = path.replace(/\{\w+\}/g, "none") + (waits ? "?timeout_seconds=0" : "");
  return request(role, method, filled, method === "GET" || method === "DELETE" ? undefined : {});
}

/** The answer to each operation with full scopes, the same for every role. */
const statuses = new Map<string, number>();

describe.each(roles)("signed in as %s", (role) => {
  test.each(guarded)("%s is permitted by scope", async (name, operation) => {
    const { status, ...answer } = await outcome(await attempt(role, operation));
    if (permits(new Set(scopesOf[role]), operation.scope)) {
      const withFullScopes = statuses.get(name) ?? (await attempt("owner", operation)).status;
      statuses.set(name, withFullScopes);
      expect(status).toBe(withFullScopes);
      return;
    }
    expect(status).toBe(403);
    expect(answer).toMatchObject({ body: { error: { code: "insufficient_scope" } } });
  });

  test("only owners and admins create keys for developers", async () => {
    const json = { name: "mine", scopes: ["inbox:read"] };
    const { status } = await request(role, "POST", "/v1/developer-access/api-keys", json);
    expect(status).toBe(role === "owner" || role === "admin" ? 201 : 403);
  });
});

async function outcome(answer: Response) {
  return { status: answer.status, body: await answer.json() };
}
