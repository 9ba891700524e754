/** `tidings whatsapp connect`: creates and connects an inbox, and says what to do about a step that fails. */
import { Readable } from "node:stream";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { defaults } from "../emulator/index.ts";
import { inboxes } from "../tools/inboxes.ts";
import { ownerKey } from "./support/app.ts";
import { runCommand } from "./support/command.ts";
import { connectableAccount as account, startConnectableWhatsApp } from "./support/connectable-whatsapp.ts";

const { app_id, waba_id, phone_number_id } = defaults;
const phone_number = `+${defaults.phone_number}`;
const ids = ["--app-id", app_id, "--waba-id", waba_id, "--phone-number-id", phone_number_id];
const secrets = {
  TIDINGS_WHATSAPP_APP_SECRET: account.app_secret,
  TIDINGS_WHATSAPP_ACCESS_TOKEN: account.access_token,
};
const pin = "729461";

let whatsApp: Awaited<ReturnType<typeof startConnectableWhatsApp>>;
const printed: string[] = [];
beforeAll(async () => {
  whatsApp = await startConnectableWhatsApp();
});
afterAll(() => whatsApp[Symbol.asyncDispose]());

async function connect(args: readonly string[], env: Readonly<Record<string, string>> = {}) {
  const { app } = whatsApp;
  const service = { TIDINGS_BASE_URL: app.address, TIDINGS_API_KEY: ownerKey };
  const result = await runCommand(["whatsapp", "connect", ...args], { ...service, ...env });
  printed.push(result.stdout, result.stderr);
  return result;
}

async function withStdin<Result>(text: string, run: () => Promise<Result>): Promise<Result> {
  const spy = vi.spyOn(process, "stdin", "get").mockReturnValue(Readable.from([Buffer.from(text)]) as never);
  try {
    return await run();
  } finally {
    spy.mockRestore();
  }
}

const listWhatsApp = async () => {
  const { data } = await whatsApp.app.call(inboxes.list_inboxes, {});
  return data.filter(({ channel }) => channel === "whatsapp");
};

test("what is missing is named, and nothing is created", async () => {
  expect(await connect([])).toMatchObject({
    status: 2,
    stderr: expect.stringContaining("Phone number is missing: give --phone-number."),
  });
  const noSecret = await connect(["--phone-number", phone_number, ...ids]);
  expect(noSecret).toMatchObject({
    status: 2,
    stderr: expect.stringContaining(
      "App secret is missing: set TIDINGS_WHATSAPP_APP_SECRET, or use --stdin.",
    ),
  });
  const wrong = { ...secrets, TIDINGS_WHATSAPP_ACCESS_TOKEN: "EAA-another-token" };
  expect(await connect(["--phone-number", phone_number, ...ids], wrong)).toMatchObject({
    status: 1,
    stderr: expect.stringContaining("the token is wrong, has expired or was revoked"),
  });
  expect(await connect(["--phone-number", phone_number], { TIDINGS_WHATSAPP_PIN: "12" })).toMatchObject({
    stderr: expect.stringContaining("TIDINGS_WHATSAPP_PIN takes 6 digits."),
  });
  expect(await listWhatsApp()).toEqual([]);
});

test("an inbox is created and connected, with what to do about a step that fails", async () => {
  await whatsApp.control(`/phone-numbers/${phone_number_id}`, { status: "DISCONNECTED" });
  const { status, stdout, stderr } = await connect(["--phone-number", phone_number, ...ids], secrets);
  expect(status).toBe(1);
  expect(stdout).toMatch(/^webhook +changed +The app now reports to http/m);
  expect(stdout).toMatch(/^registration +failed +The number is not registered/m);
  expect(stdout).toContain("What to do:\n  registration: Repeat it with pin");
  expect(stderr).toContain("Not connected: registration failed.");
  expect(await listWhatsApp()).toMatchObject([{ phone_number, name: "WhatsApp" }]);
});

test("a repeated run takes the stored credentials, and secrets from stdin", async () => {
  const { status, stdout } = await withStdin(JSON.stringify({ pin }), () => connect(["--stdin", "--json"]));
  expect(status).toBe(0);
  const { steps } = JSON.parse(stdout);
  expect(steps.at(-1)).toMatchObject({ name: "registration", state: "changed" });
  const again = await connect([]);
  expect(again).toMatchObject({ status: 0, stderr: "" });
  expect(again.stdout).toMatch(/^registration +ok /m);
});

test("other credentials of an inbox replace its own", async () => {
  const before = await listWhatsApp();
  const { status } = await withStdin(
    JSON.stringify({ app_secret: account.app_secret, access_token: account.access_token }),
    () => connect(["--stdin", ...ids]),
  );
  expect(status).toBe(0);
  expect((await listWhatsApp()).map(({ id }) => id)).toEqual(before.map(({ id }) => id));
});

test.each(["", "[]", '{"app_secret": 1}', '{"appsecret-that-must-not-leak"', '{"other": "text"}'])(
  "stdin with %j is rejected without repeating it",
  async (text) => {
    const { status, stderr } = await withStdin(text, () => connect(["--stdin"]));
    expect(status).toBe(2);
    expect(stderr).toContain("Send JSON on stdin");
  },
);

test("the number of a simulated inbox is refused", async () => {
  const { data } = await whatsApp.app.call(inboxes.list_inboxes, {});
  const simulated = data.find(({ channel }) => channel === "simulator")?.phone_number ?? "";
  expect(await connect(["--phone-number", simulated])).toMatchObject({
    status: 2,
    stderr: expect.stringContaining("is of the channel simulator"),
  });
});

test("no secret is printed", () => {
  const { app_secret, access_token } = account;
  expect(printed.length).toBeGreaterThan(10);
  const text = printed.join("\n");
  expect([app_secret, access_token, pin].filter((secret) => text.includes(secret))).toEqual([]);
});
