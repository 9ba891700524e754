/**
 * The commands of the operator on the machine: organizations, keys and users, beside a running
 * service and without one.
 */
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { describe, expect, test } from "vitest";
import { auth } from "../tools/auth.ts";
import { allScopes } from "../tools/contract/index.ts";
import { operator } from "../tools/operator.ts";
import { operatorKey, ownerKey, startTestApp } from "./support/app.ts";
import { runCommand } from "./support/command.ts";
import { openBrowser } from "./support/console.ts";
import { createTestDatabase } from "./support/database.ts";
import { expectFailure } from "./support/expect-failure.ts";
import { asOperator } from "./support/operator.ts";
import { ownPort } from "./support/own-port.ts";
import { useService } from "./support/served-process.ts";
import { openLink } from "./support/sign-in-links.ts";

type Run = (...args: string[]) => ReturnType<typeof runCommand>;

/** Runs commands on a database and a data folder. */
function runOn(env: () => Promise<Readonly<Record<string, string>>>) {
  const run: Run = async (...args) => runCommand(args, await env());
  /** The data that a command prints with --json. */
  const runJson = async (...args: string[]) => {
    const { status, stdout, stderr } = await run(...args, "--json");
    expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
    return JSON.parse(stdout);
  };
  return { run, runJson };
}

/** The arguments that create an organization with a name and an owner of its own. */
function newShop() {
  const name = `Shop ${randomUUID()}`;
  const email = `${randomUUID()}@shop.example`;
  return {
    name,
    email,
    args: ["orgs", "create", "--name", name, "--owner-email", email, "--owner-name", "Ada"],
  };
}

const serve = useService({ TIDINGS_OPERATOR_KEY: operatorKey });
const { run, runJson } = runOn(async () => (await serve()).processes.env);

describe("beside a running service", () => {
  test("an organization is created and listed, and its owner signs in", async () => {
    const { client, processes } = await serve();
    const { name, email, args } = newShop();
    const creating = processes.start([...args, "--currency", "EUR", "--time-zone", "Europe/Berlin"]);
    const [status] = await once(creating.child, "close");
    expect({ status, stderr: creating.stderr() }).toEqual({ status: 0, stderr: "" });
    const read = (pattern: RegExp) => pattern.exec(creating.stdout())?.slice(1) ?? [];
    const [id = "", shownName] = read(/Organization +(org_\w+), (.+)$/m);
    const [shownEmail, password = ""] = read(/Owner +(\S+), password (\S+)$/m);
    const [key = ""] = read(/API key +(sk_live_\S+)$/m);
    expect([shownName, shownEmail]).toEqual([name, email]);
    const { data } = await client.call(auth.whoami, {}, { key });
    expect(data.organization).toMatchObject({ id, currency: "EUR", time_zone: "Europe/Berlin" });
    const session = await client.call(auth.login, { email, password });
    expect(session.data.user).toMatchObject({ organization_id: id, role: "owner" });
    const listed = await run("orgs", "list", "--search", name.slice(2));
    expect(listed.stdout.split("\n")).toEqual([
      expect.stringMatching(/^ID +STATUS +USERS +INBOXES +CREATED +NAME$/),
      expect.stringMatching(new RegExp(`^${id}  active +1 +1 +\\S+Z +${name}$`)),
      "",
    ]);
    const all = (await runJson("orgs", "list")) as { id: string; name: string }[];
    const first = all.findIndex((one) => one.name === "My organization");
    expect(all.slice(0, first)).toContainEqual(
      expect.objectContaining({ id, name, status: "active", users: 1 }),
    );
    expect(first).toBe(all.length - 1);
  });

  test("keys of an organization are made, listed and revoked; another's are not found", async () => {
    const { client } = await serve();
    const { organization } = await runJson(...newShop().args);
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
    const acts = await client.call(operator.list_operator_activity, { per_page: 3 }, { key: operatorKey });
    expect(acts.data.map(({ operation, by, ids }) => [operation, by.id, ids])).toEqual([
      ["revoke-key", "machine", [organization.id, key.id]],
      ["create-key", "machine", [organization.id, key.id]],
      ["create-organization", "machine", expect.arrayContaining([organization.id])],
    ]);
  });

  test("a user is created, and a reset of the password ends the sessions", async () => {
    const { client } = await serve();
    const email = `${randomUUID()}@example.com`;
    const user = await runJson("users", "create", "--email", email, "--name", "Bea");
    expect(user).toMatchObject({ role: "agent" });
    const login = (password: string) => client.call(auth.login, { email, password });
    const session = await login(user.password);
    const reset = await run("users", "reset-password", "--email", email.toUpperCase());
    const [, password = ""] = /Password +(\S+)$/m.exec(reset.stdout) ?? [];
    expect(await expectFailure(login(user.password))).toMatchObject({ code: "login_failed" });
    const ended = client.call(auth.whoami, {}, { key: session.data.access_token });
    expect(await expectFailure(ended)).toMatchObject({ status: 401 });
    expect((await login(password)).data.user.id).toBe(user.id);
  });

  test("an organization is suspended, shown and resumed", async () => {
    const { client } = await serve();
    const { organization, api_key } = await runJson(...newShop().args);
    const whoami = () => client.call(auth.whoami, {}, { key: api_key.secret_key });
    expect(await run("orgs", "suspend", organization.id)).toMatchObject({
      status: 2,
      stderr: "tidings: --reason must be given. See --help.\n",
    });
    const suspended = await runJson("orgs", "suspend", organization.id, "--reason", "Unpaid");
    expect(suspended).toMatchObject({ status: "suspended", suspension_reason: "Unpaid" });
    expect(await expectFailure(whoami())).toMatchObject({ code: "organization_suspended" });
    expect(await runJson("orgs", "show", organization.id)).toEqual(suspended);
    expect((await run("orgs", "show", organization.id)).stdout).toMatch(
      /^ {2}Status +suspended since \S+Z: Unpaid$/m,
    );
    expect(await runJson("orgs", "resume", organization.id)).toEqual(organization);
    expect((await whoami()).data.organization.id).toBe(organization.id);
    const acts = await client.call(operator.list_operator_activity, { per_page: 2 }, { key: operatorKey });
    expect(acts.data.map(({ operation, by, ids }) => [operation, by.id, ids])).toEqual([
      ["resume-organization", "machine", [organization.id]],
      ["suspend-organization", "machine", [organization.id]],
    ]);
    for (const command of [["show"], ["resume"], ["suspend", "--reason", "x"]]) {
      expect(await run("orgs", ...command, "org_none")).toMatchObject({
        status: 1,
        stderr: "tidings: There is no organization with this id. Find it with: tidings orgs list\n",
      });
    }
  });

  test("the users of one organization are listed", async () => {
    const { organization, owner } = await runJson(...newShop().args);
    const at = ["--organization", organization.id];
    const bea = `${randomUUID()}@example.com`;
    await runJson("users", "create", "--email", bea, "--name", "Bea", ...at);
    const users = await runJson("users", "list", ...at);
    expect(users).toMatchObject([
      { id: owner.id, role: "owner", is_active: true },
      { email: bea, role: "agent" },
    ]);
    expect(JSON.stringify(users)).not.toContain("password");
    const agents = await run("users", "list", "--role", "agent", ...at);
    expect(agents.stdout).toMatch(new RegExp(`^ID .*\\n\\S+ +agent +yes +${bea} +Bea\\n$`));
    expect(await run("users", "list", "--role", "chief", ...at)).toMatchObject({ status: 2 });
  });

  test("the commands work while the first organization is suspended", async () => {
    const first = (await runJson("orgs", "list")).at(-1);
    const { client } = await serve();
    await client.call(operator.suspend_organization, { id: first.id, reason: "Test" }, asOperator);
    try {
      expect(await runJson("orgs", "list", "--status", "suspended")).toMatchObject([{ id: first.id }]);
      await runJson(...newShop().args);
    } finally {
      await client.call(operator.resume_organization, { id: first.id }, asOperator);
    }
  });

  test("a link signs the owner in to the console, or the person with an address", async () => {
    const { address, processes } = await serve();
    const env = { ...processes.env, PORT: new URL(address).port };
    const email = `${randomUUID()}@example.com`;
    await runJson("users", "create", "--email", email, "--name", "Bea");
    const shown = await runCommand(["console"], env);
    expect(shown).toMatchObject({ status: 0, stderr: "" });
    const [, origin] = /^ {2}(\S+)\/console\/#login=[\w-]{43}$/m.exec(shown.stdout) ?? [];
    expect(origin).toBe(address);
    expect(shown.stdout).toMatch(
      /^Open this link to sign in as owner@example\.com\. It works once, within 10 minutes\.$/m,
    );
    const printed = await runCommand(["console", "--user", email, "--json"], env);
    const link = JSON.parse(printed.stdout);
    expect(link).toMatchObject({ user: { email, role: "agent" }, expires_at: expect.any(String) });
    const browser = openBrowser({ address });
    const answer = await openLink(browser, link.url.split("#login=")[1]);
    expect(answer).toMatchObject({ status: 200, body: { data: { user: { email } } } });
  });

  // With the embedded database, the link has the address of the process that owns the folder.
  test("a link has the public address, and a service that does not answer is named", {
    tags: "postgres",
  }, async () => {
    const { processes } = await serve();
    const publicUrl = "https://desk.example.com";
    const atPublic = await runCommand(["console"], { ...processes.env, TIDINGS_PUBLIC_URL: publicUrl });
    expect(atPublic).toMatchObject({ status: 0, stderr: "" });
    expect(atPublic.stdout).toContain(`  ${publicUrl}/console/#login=`);
    const unanswered = await runCommand(["console"], { ...processes.env, PORT: String(ownPort) });
    expect(unanswered).toMatchObject({
      status: 0,
      stdout: expect.stringContaining(`http://127.0.0.1:${ownPort}/console/#login=`),
      stderr: `tidings: No service of this data folder answers at http://127.0.0.1:${ownPort}. Start it with tidings serve, or set PORT to its port.\n`,
    });
  });

  test("the route answers to the folder's own key alone", async () => {
    const { address } = await serve();
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

describe("what a service rejects", () => {
  test("is explained, with the option, and exits with 2 if the arguments are at fault", async () => {
    const { args } = newShop();
    expect(await run(...args, "--currency", "Euro")).toEqual({
      status: 2,
      stdout: "",
      stderr: "tidings: --currency: Send a three-letter currency code (ISO 4217), for example EUR.\n",
    });
    const user = ["users", "create", "--email", "nobody", "--name", "Bea"];
    expect(await run(...user)).toMatchObject({
      status: 2,
      stderr: "tidings: --email: Send an e-mail address.\n",
    });
    await runJson(...args);
    expect(await run(...args)).toMatchObject({
      status: 1,
      stdout: "",
      stderr: "tidings: A user with this e-mail address already exists. Use another address.\n",
    });
    expect(await run("console", "--user", "nobody@example.com")).toMatchObject({
      status: 1,
      stderr: expect.stringContaining("tidings: There is no active user with this e-mail address.\n"),
    });
    expect(await run("console", "--user", "nobody")).toMatchObject({
      status: 2,
      stderr: expect.stringContaining("tidings: --user: Send an e-mail address.\n"),
    });
    expect(await run("keys", "list", "--organization", "org_none")).toMatchObject({
      status: 1,
      stderr: "tidings: There is no organization with this id. Find it with: tidings orgs list\n",
    });
  });
});

test("without a running service, an organization is created that the next service has", async () => {
  await using database = await createTestDatabase();
  await (await startTestApp({ database }))[Symbol.asyncDispose]();
  const { organization, api_key } = await runOn(async () => database.env).runJson(...newShop().args);
  await using app = await startTestApp({ database });
  const { data } = await app.call(auth.whoami, {}, { key: api_key.secret_key });
  expect(data.organization.id).toBe(organization.id);
});

const orgsCommands = "Commands: orgs create, orgs list, orgs show, orgs suspend, orgs resume.";

test.each([
  [["orgs"], `There is no command "orgs". ${orgsCommands}`],
  [["orgs", "delete"], `There is no command "orgs delete". ${orgsCommands}`],
  [["orgs", "create"], "--name and --owner-email and --owner-name must be given. See --help."],
  [["orgs", "list", "Shop"], "tidings orgs list takes no arguments. Run tidings orgs list --help."],
  [
    ["keys", "create", "--scopes", "inbox:reed"],
    `There is no scope "inbox:reed". Did you mean inbox:read? --scopes takes scopes separated by commas, of: ${allScopes.join(", ")}.`,
  ],
  [["keys", "revoke"], "tidings keys revoke takes <key id>. Run tidings keys revoke --help."],
  [
    ["users", "reset-password", "--role", "owner"],
    "--role is an option of tidings users create, not of tidings users reset-password.",
  ],
])("%j exits with 2 and says what to do", async (args, message) => {
  expect(await runCommand(args)).toEqual({ status: 2, stdout: "", stderr: `tidings: ${message}\n` });
});

test.each([
  ["orgs create", "--owner-email <address>"],
  ["orgs list", "--status <status>"],
  ["keys create", "--expires-in-days <number>"],
  ["keys list", "--organization <id>"],
  ["keys revoke", "tidings keys revoke <key id> [options]"],
  ["users create", "--role <role>"],
  ["users reset-password", "--json "],
  ["console", "--user <address>"],
])("%s has a help of its own", async (command, text) => {
  const { status, stdout } = await runCommand([...command.split(" "), "--help"]);
  expect({ status, stdout }).toEqual({
    status: 0,
    stdout: expect.stringContaining(`Usage: tidings ${command}`),
  });
  expect(stdout).toContain(text);
});
