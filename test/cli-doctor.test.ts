/** `tidings doctor` and the inboxes of a running service, on the emulator of WhatsApp. */
import { sql } from "kysely";
import { expect, test } from "vitest";
import { defaults } from "../emulator/index.ts";
import { ownerKey } from "./support/app.ts";
import { runCommand } from "./support/command.ts";
import { useEmulatedWhatsApp } from "./support/whatsapp-channel.ts";

const whatsApp = useEmulatedWhatsApp();

interface Finding {
  readonly check: string;
  readonly status: string;
  readonly message: string;
  readonly fix?: string;
}

async function inspect(more: Readonly<Record<string, string>> = {}) {
  const settings = { TIDINGS_BASE_URL: whatsApp().app.address, TIDINGS_API_KEY: ownerKey, ...more };
  const { status, stdout, stderr } = await runCommand(["doctor", "--json"], settings);
  const findings: Finding[] = JSON.parse(stdout);
  const of = (subject: string) => findings.filter(({ check }) => check === subject);
  return { status, stderr, channels: of("channel"), settings: of("setting") };
}

test("each inbox is checked at its channel", async () => {
  const { control } = whatsApp();
  await control("POST", `/phone-numbers/${defaults.phone_number_id}`, { messaging_limit: "TIER_2K" });
  const { status, channels } = await inspect();
  expect(status).toBe(0);
  expect(channels).toEqual([
    {
      check: "channel",
      status: "ok",
      message: expect.stringMatching(
        /^Inbox \+14155550100 \(simulator\) works: its channel answered in \d+ ms\.$/,
      ),
    },
    {
      check: "channel",
      status: "ok",
      message: expect.stringMatching(
        /^Inbox \+15550783881 \(whatsapp\) works: its channel answered in \d+ ms, quality green, 2,000 people a day\.$/,
      ),
    },
  ]);
});

test("a test key of Razorpay is a warning", async () => {
  const razorpay = (keyId: string) => ({
    TIDINGS_RAZORPAY_KEY_ID: keyId,
    TIDINGS_RAZORPAY_KEY_SECRET: "the secret of the key",
    TIDINGS_RAZORPAY_WEBHOOK_SECRET: "the secret of the webhook",
  });
  const tested = await inspect(razorpay("rzp_test_1234567890"));
  expect(tested).toMatchObject({
    status: 0,
    settings: [
      {
        status: "warning",
        message:
          "TIDINGS_RAZORPAY_KEY_ID is a test key: payments move no money, but wallets are credited with real money.",
        fix: "To take payments, set a key that starts with rzp_live_, with its secret.",
      },
    ],
  });
  const { settings } = await inspect(razorpay("rzp_live_1234567890"));
  expect(settings).toMatchObject([{ status: "ok", message: "All settings are valid." }]);
});

test("at most 20 inboxes are checked, and the others are counted", async () => {
  const { queries } = whatsApp().app.server.database;
  await sql`
    insert into inboxes (organization_id, id, name, channel, platform, phone_number, settings, created_at, updated_at)
    select organization_id, 'inb_more_' || number, name, 'simulator', platform, '+1415555' || number,
      settings, created_at, updated_at
    from inboxes, generate_series(3001, 3023) as number where channel = 'whatsapp'
  `.execute(queries);
  const { status, channels } = await inspect();
  await sql`delete from inboxes where id like 'inb_more_%'`.execute(queries);
  expect(status).toBe(0);
  expect(channels).toHaveLength(21);
  expect(channels.at(-1)).toEqual({
    check: "channel",
    status: "warning",
    message: "5 more inboxes were not checked: a run checks the first 20.",
    fix: "Check one with check_inbox (POST /v1/inboxes/{id}/check).",
  });
});

test("a token that has ended is a problem", async () => {
  await whatsApp().control("POST", "/tokens/expire", { access_token: defaults.access_token });
  const { status, stderr, channels } = await inspect();
  const error = { message: "1 problem was found.", code: "command_failed" };
  expect({ status, ...JSON.parse(stderr) }).toEqual({ status: 1, error });
  expect(channels[1]).toEqual({
    check: "channel",
    status: "problem",
    message:
      'Inbox +15550783881 (whatsapp) can\'t use its channel, because of credentials.access_token: "The channel does not accept the credentials: the token is wrong, has expired or was revoked."',
    fix: expect.stringContaining("update_inbox"),
  });
});
