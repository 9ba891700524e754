/** The commands that use a running service, and `tidings doctor`. */
import { chmod, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { openDataFolder } from "../src/cli/data-folder/data-folder.ts";
import { describeCallback } from "../src/cli/doctor/callback.ts";
import { describeClock, describeConnections, describeMigrations } from "../src/cli/doctor/database.ts";
import { describeInbox } from "../src/cli/doctor/inboxes.ts";
import { checkVersions, describeDisk } from "../src/cli/doctor/machine.ts";
import { describeWebhook } from "../src/cli/doctor/service.ts";
import { CallFailure } from "../src/client/index.ts";
import { webhookEvents } from "../tools/webhooks.ts";
import { ownerKey } from "./support/app.ts";
import { runCommand } from "./support/command.ts";
import { ownPort } from "./support/own-port.ts";
import { useService } from "./support/served-process.ts";
import { startWebhookReceiver } from "./support/webhook-receiver.ts";

const serve = useService();

async function run(...args: string[]) {
  const { address, processes } = await serve();
  return runCommand(args, { ...processes.env, TIDINGS_BASE_URL: address, TIDINGS_API_KEY: ownerKey });
}

async function runJson(...args: string[]) {
  const { status, stdout, stderr } = await run(...args, "--json");
  expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
  return stdout;
}

test("a customer's message and the answer are in the log", async () => {
  const received = JSON.parse(await runJson("inbound", "+14155550177", "Hello", "--name", "Ada"));
  const sent = JSON.parse(await runJson("send", "+14155550177", "Hi Ada"));
  expect(sent).toMatchObject({ to: "+14155550177", conversation_id: received.conversation_id });
  const lines = (await runJson("logs", "--events", "message.received,message.sent")).trim().split("\n");
  expect(lines.map((line) => JSON.parse(line))).toMatchObject([
    { type: "message.received", data: { message_id: received.message_id } },
    { type: "message.sent", data: { message_id: sent.id } },
  ]);
  const { stdout } = await run("logs", "--events", "message.received");
  expect(stdout).toContain(`conversation_id=${received.conversation_id}`);
  expect(stdout).not.toContain("Hello");
});

test("a message that fails exits with 1, after its data was printed", async () => {
  const { address } = await serve();
  const to = "+14155550188";
  const inject = async (failures: readonly object[]) => {
    await fetch(`${address}/simulator/faults`, {
      method: "PUT",
      headers: { "x-api-key": ownerKey, "content-type": "application/json" },
      body: JSON.stringify({ failures }),
    });
  };
  await inject([{ code: 131026, to }]);
  const plain = await run("send", to, "Hi");
  const json = await run("send", to, "Hi", "--json");
  await inject([]);
  expect(plain).toMatchObject({ status: 1, stderr: expect.stringMatching(/^tidings: The message failed: /) });
  expect(plain.stdout).toMatch(/^ {2}Status +failed: /m);
  const message = JSON.parse(json.stdout);
  expect([json.status, message.status]).toEqual([1, "failed"]);
  const { code, hint } = message.error;
  expect(JSON.parse(json.stderr).error).toMatchObject({ code, fix: hint, message_id: message.id });
  expect(plain.stderr).toContain(hint);
});

test("a message is explained: who sent it, and what happened when", async () => {
  const sent = JSON.parse(await runJson("send", "+14155550179", "Hi"));
  const history = JSON.parse(await runJson("explain", sent.id));
  expect(history).toMatchObject({ message: { id: sent.id }, call: { operation: "send_message" } });
  const { stdout } = await run("explain", sent.id);
  expect(stdout).toMatch(/^ {2}Call +send_message over REST$/m);
  const events = stdout.split("\n").flatMap((line) => /^20\S+ {2}(.+)$/.exec(line)?.slice(1) ?? []);
  expect(events).toEqual(expect.arrayContaining(["accepted", "sent", "delivered"]));
  expect(events.filter((text) => /^(hold|charge) [\d.]+ USD \(simulated money\)$/.test(text))).toHaveLength(
    2,
  );
  expect(await run("explain", "msg_none")).toMatchObject({ status: 1, stdout: "" });
});

test("an error is JSON with --json: the service's own, or one of the command line", async () => {
  const rejected = await run("send", "415", "x", "--json");
  expect(rejected.status).toBe(2);
  expect(JSON.parse(rejected.stderr).error).toMatchObject({
    code: "invalid_phone_number",
    details: [{ field: "to" }],
  });
  const misspelt = await run("send", "415", "x", "--jsn", "--json");
  expect(JSON.parse(misspelt.stderr)).toEqual({
    error: { code: "invalid_arguments", message: "There is no option --jsn. Did you mean --json?" },
  });
  expect((await run("send", "415", "x")).stderr).toMatch(/^tidings: to: .*415.* Write it with \+/);
});

test("the inboxes are listed with their health", async () => {
  const [inbox] = JSON.parse(await runJson("inboxes", "list"));
  expect(inbox).toMatchObject({ channel: "simulator", health: { status: "ok" } });
  const { stdout } = await run("inboxes", "list");
  expect(stdout).toMatch(new RegExp(`^ID .*\\n${inbox.id} .* simulator +yes .* ok\\n$`));
  expect(JSON.parse(await runJson("inboxes", "show", inbox.id))).toEqual(inbox);
  expect((await run("inboxes", "show", inbox.id)).stdout).toMatch(/^ {2}Simulated +yes$/m);
  expect(await run("inboxes", "show", "inb_none")).toMatchObject({
    status: 1,
    stderr: 'tidings: The organization has no inbox "inb_none". Find its id with: tidings inboxes list\n',
  });
});

test("an example of an event is signed with the secret that stays, until another is wanted", async () => {
  const { processes } = await serve();
  await using receiver = await startWebhookReceiver();
  const trigger = () =>
    runCommand(["trigger", "message.received", "--forward-to", receiver.url, "--json"], processes.env);
  const secret = await printedSecret(receiver.url);
  receiver.secret = secret;
  expect(await trigger()).toMatchObject({ status: 0, stderr: "" });
  expect(receiver.received).toMatchObject([
    { event: { type: "message.received", data: { from: "+14155550123", test: true } } },
  ]);
  expect(await printedSecret(receiver.url)).toBe(secret);
  expect(await printedSecret(receiver.url, "--new-secret")).not.toBe(secret);
  await trigger();
  expect(receiver.forged).toBe(1);
});

test.each([
  ["empty", "", 0o600, "does not contain a signing secret. Replace it with tidings listen --new-secret"],
  ["of another form", "whsec_short", 0o600, "does not contain a signing secret."],
  ["readable by others", `whsec_${"A".repeat(43)}=`, 0o644, "Other users of this machine may read"],
])("a file of the signing secret that is %s is not used", async (_, content, mode, message) => {
  const folder = await mkdtemp(join(tmpdir(), "tidings-secret-"));
  const file = join(folder, "listen-secret");
  await writeFile(file, content);
  await chmod(file, mode);
  const trigger = ["trigger", "message.sent", "--data-dir", folder];
  const { status, stdout, stderr } = await runCommand([...trigger, ...receiverOption]);
  expect({ status, stdout }).toEqual({ status: 1, stdout: "" });
  expect(stderr).toContain(message);
  expect(stderr).toContain(file);
  await rm(folder, { recursive: true });
});

/** What `tidings listen` prints. */
async function printedSecret(url: string, ...options: string[]): Promise<string> {
  const { processes } = await serve();
  const listening = processes.start(["listen", "--forward-to", url, ...options]);
  const [, secret = ""] = await listening.waitForOutput(/Signing secret: (whsec_\S+)/);
  await listening.end("SIGKILL");
  return secret;
}

const receiverOption = ["--forward-to", "http://127.0.0.1:9"];

test.each<[string[], number, string]>([
  [
    ["trigger", "message.gone", ...receiverOption],
    2,
    `There is no event "message.gone". Did you mean message.sent? The events are ${webhookEvents.join(", ")}.`,
  ],
  ...["listen", "logs"].map((command): [string[], number, string] => [
    [command, "--events", "message.sent,mesage.read", ...(command === "listen" ? receiverOption : [])],
    2,
    `There is no event "mesage.read". Did you mean message.read? The events are ${webhookEvents.join(", ")}.`,
  ]),
  [
    ["trigger", "message.sent"],
    1,
    "No active webhook subscribes to message.sent. Create one with create_webhook (POST /v1/webhook-subscriptions). For a program on this machine: tidings trigger message.sent --forward-to http://127.0.0.1:4000/hooks",
  ],
  [
    ["trigger", "message.sent", "--forward-to", "localhost"],
    2,
    "tidings trigger takes an address: --forward-to http://127.0.0.1:4000/hooks",
  ],
  [["send", "+14155550177"], 2, "tidings send takes <to> <text>. Run tidings send --help."],
  [
    ["inbound", "+14155550177", "Hi", "--inbox", "+4915112345678"],
    1,
    "No simulated inbox has the number +4915112345678. tidings inbound writes to simulated inboxes alone.",
  ],
  [
    ["logs", "--since", "soon"],
    2,
    "--since takes a duration such as 30m, 2h or 7d, or a time such as 2026-01-31T12:00:00Z.",
  ],
])("%j is rejected", async (args, status, message) => {
  expect(await run(...args)).toEqual({ status, stdout: "", stderr: `tidings: ${message}\n` });
});

test("a wrong key and a missing service are explained", async () => {
  const { address } = await serve();
  const wrong = { TIDINGS_BASE_URL: address, TIDINGS_API_KEY: "sk_live_wrong" };
  expect(await runCommand(["logs"], wrong)).toMatchObject({
    status: 1,
    stderr: `tidings: The service at ${address} rejects the key. Set TIDINGS_API_KEY to a key of this service.\n`,
  });
  const missing = `http://127.0.0.1:${ownPort}`;
  expect(await runCommand(["logs"], { ...wrong, TIDINGS_BASE_URL: missing })).toMatchObject({
    status: 1,
    stderr: `tidings: No service answers at ${missing}. Check TIDINGS_BASE_URL, or unset it to use the service of this machine.\n`,
  });
});

describe("doctor", () => {
  test("finds no problem beside a running service", async () => {
    const { processes, address } = await serve();
    const env = { ...processes.env, PORT: new URL(address).port };
    const { status, stdout, stderr } = await runCommand(["doctor", "--json"], env);
    expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
    const findings = JSON.parse(stdout) as { check: string; status: string }[];
    const checks = ["versions", "setting", "database", "port", "service", "channel"];
    for (const check of checks) {
      expect(findings).toContainEqual(expect.objectContaining({ check, status: "ok" }));
    }
  });

  test("names each wrong setting and exits with 1", async () => {
    const { status, stdout, stderr } = await runCommand(["doctor"], { PORT: "x", HOST: "a b" });
    expect({ status, stderr }).toEqual({ status: 1, stderr: "tidings: 2 problems were found.\n" });
    expect(stdout).toMatch(/^problem +setting +PORT takes a whole number/m);
  });

  test("tells what is a problem from what is a warning", () => {
    const inbox = { id: "inb_1", phone_number: "+14155550100", channel: "whatsapp" };
    const health = { code: 190, reason: "expired", since: null };
    const healthy = { ...inbox, health: { status: "ok", code: null, reason: null, since: null } } as const;
    const limits = { messaging_limit: 2_000, quality: "green", messages_per_second: 80 } as const;
    const works = { latency_ms: 7, limits, problem: null };
    const failing = (code: "account_rejected" | "channel_unreachable") => ({
      ...works,
      problem: { code, field: null, message: "No.", fix: "Wait." },
    });
    const unchecked = new CallFailure({ status: 429, code: "rate_limited", message: "Too many." });
    const webhook = { id: "whk_1", url: "https://a.example/secret", disabled_reason: null };
    expect([
      checkVersions("20.18.9").status,
      checkVersions("22.0.0").status,
      describeDisk("/data", 199).status,
      describeDisk("/data", 1_999).status,
      describeMigrations({ pending: [], unknown: ["9999-later"] }).status,
      describeMigrations({ pending: ["0001-a"], unknown: [] }).status,
      describeConnections({ max_connections: 20, used: 11, poolSize: 10 }).status,
      describeConnections({ max_connections: 20, used: 10, poolSize: 10 }).status,
      describeClock(-3_000, 10).status,
      describeClock(3_000, 1_500).status,
      describeInbox({ ...inbox, health: { ...health, status: "stopped" } }, works).status,
      describeInbox({ ...inbox, health: { ...health, status: "unreachable" } }, unchecked).status,
      describeInbox(healthy, failing("account_rejected")).status,
      describeInbox(healthy, failing("channel_unreachable")).status,
      describeInbox(healthy, unchecked).message,
      describeInbox(healthy, works).message,
      describeWebhook({ ...webhook, is_active: false, disabled_reason: "gone" }, []).status,
      describeWebhook({ ...webhook, is_active: true }, []).message,
    ]).toEqual([
      "problem",
      "ok",
      "problem",
      "warning",
      "problem",
      "warning",
      "warning",
      "ok",
      "warning",
      "ok",
      "problem",
      "warning",
      "problem",
      "warning",
      "Inbox +14155550100 (whatsapp) could not be checked: Too many.",
      "Inbox +14155550100 (whatsapp) works: its channel answered in 7 ms, quality green, 2,000 people a day.",
      "problem",
      "whk_1 at https://a.example has had no event yet.",
    ]);
  });
});

describe("doctor, of an inbox at WhatsApp,", () => {
  const inbox = {
    phone_number: "+14155550100",
    callback_url: "https://tidings.example/webhooks/whatsapp/org_1/inb_1",
    last_webhook_at: null,
    created_at: "2026-11-01T00:00:00.000Z",
  };
  const silent = { isReceiptMissing: false, hasReceived: false };
  const last_webhook_at = "2026-11-02T00:00:00.000Z";

  test.each([
    [
      inbox,
      silent,
      "warning",
      "Inbox +14155550100 has had no webhook since the inbox was made at 2026-11-01",
    ],
    [{ ...inbox, callback_url: null }, silent, "warning", "TIDINGS_PUBLIC_URL is not set"],
    [{ ...inbox, callback_url: "http://a.example/" }, silent, "warning", "it can't call http://a.example/."],
    [
      { ...inbox, callback_url: "https://localhost/" },
      silent,
      "warning",
      "it can't call https://localhost/.",
    ],
    [
      { ...inbox, last_webhook_at },
      { ...silent, isReceiptMissing: true },
      "warning",
      "has had no webhook since 2026-11-02T00:00:00.000Z, although messages were sent since.",
    ],
    [
      { ...inbox, last_webhook_at, callback_url: "http://127.0.0.1:3000/" },
      silent,
      "ok",
      "Inbox +14155550100 gets webhooks, the last at 2026-11-02T00:00:00.000Z.",
    ],
    [inbox, { ...silent, hasReceived: true }, "ok", "Inbox +14155550100 gets webhooks."],
  ])("with %o and %o finds a %s: %s", (one, traffic, status, message) => {
    expect(describeCallback(one, traffic)).toMatchObject({
      status,
      message: expect.stringContaining(message),
    });
  });
});

describe("a taken port", () => {
  test("of the service of the folder is told from one of another program", async () => {
    const { processes, address } = await serve();
    const { port } = new URL(address);
    const { path } = await openDataFolder(processes.env.TIDINGS_DATA_DIR ?? "");
    expect(await runCommand(["serve", "--port", port], processes.env)).toMatchObject({
      status: 1,
      stderr: `tidings: The service of ${path} already runs, at ${address}. Use that one or end it. Set PORT or --port to another one to run a second process on this folder.\n`,
    });
    await using receiver = await startWebhookReceiver();
    const taken = new URL(receiver.url).port;
    expect(await runCommand(["serve", "--port", taken], processes.env)).toMatchObject({
      status: 1,
      stderr: `tidings: Port ${taken} of 127.0.0.1 is in use by another program. Set PORT or --port to another one, or end that program.\n`,
    });
  });
});
