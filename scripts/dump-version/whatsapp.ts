/**
 * Adds a WhatsApp inbox at the emulator to the data: a sealed account, a message in each direction, a file
 * and a template.
 */
import { createClock, defaults, type Emulator, startEmulator } from "../../emulator/index.ts";
import type { TestApp } from "../../test/support/app.ts";
import { createTemplateHelpers } from "../../test/support/templates.ts";
import type { DumpRecord } from "../../test/support/version-dumps.ts";
import { inboxes } from "../../tools/inboxes.ts";
import { messages } from "../../tools/messages/index.ts";
import { templates } from "../../tools/templates/index.ts";

const { phone_number_id, waba_id, app_id, access_token, app_secret, verify_token, phone_number } = defaults;
/** A number reserved for fiction, which no other contact in the data has. */
const customer = "+14155550117";
/** A PNG of one pixel. */
const photo = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
  "base64",
);

export function startWhatsApp(startsAt: Date): Promise<Emulator> {
  return startEmulator({ clock: createClock(startsAt.getTime()) });
}

export async function addWhatsApp(app: TestApp, emulator: Emulator): Promise<DumpRecord["whatsapp"]> {
  emulator.clock.advance(app.now().getTime() - emulator.clock.now());
  const credentials = { phone_number_id, waba_id, app_id, access_token, app_secret, verify_token };
  const { data: inbox } = await app.call(inboxes.create_inbox, {
    name: "WhatsApp",
    channel: "whatsapp",
    phone_number: `+${phone_number}`,
    credentials,
  });
  const { pathname } = new URL(inbox.callback_url ?? "");
  await control(emulator, `/apps/${app_id}`, { callback_url: app.address + pathname });

  const referral = { source_type: "ad", source_id: "120210000000000001", headline: "Spare parts" };
  await control(emulator, "/inbound", {
    from: customer,
    name: "Joan Clarke",
    text: "I saw the ad.",
    referral,
  });
  await emulator.idle(); // webhooks that are sent together may overtake each other
  const location = { latitude: 51.9977, longitude: -0.7407, name: "Bletchley Park" };
  await control(emulator, "/inbound", { from: customer, location });
  await emulator.idle();
  await control(emulator, "/inbound", { from: customer, text: "Is this the part?" });
  await emulator.idle();
  const media = {
    type: "image",
    base64: photo.toString("base64"),
    mime_type: "image/png",
    caption: "This one",
  };
  await control(emulator, "/inbound", { from: customer, media });
  await emulator.idle();
  await control(emulator, "/inbound", { from: customer, unsupported: { type: "poll" } });
  await advance(app, emulator, 10_000);
  const { data: sent } = await app.call(messages.send_message, {
    to: customer,
    type: "text",
    text: { body: "Yes, that is the part." },
    inbox_id: inbox.id,
  });
  await advance(app, emulator, 10_000);
  await control(emulator, `/customers/${encodeURIComponent(customer)}/read`, {});
  await advance(app, emulator, 10_000);

  const { create } = createTemplateHelpers(app);
  const template_data = { body: "Your part {{1}} has been shipped to you." };
  const { id } = await create({ name: "part_shipped", inbox_id: inbox.id, language: "en_US", template_data });
  await app.call(templates.submit_template, { id });
  await advance(app, emulator, 10_000);
  const message = { id: sent.id, conversation_id: sent.conversation_id, to: customer };
  return { inbox_id: inbox.id, template_id: id, message };
}

/**
 * Advances in steps, because a status is reported 50 ms and 200 ms after a message: advanced together, the
 * webhooks would race.
 */
async function advance(app: TestApp, emulator: Emulator, ms: number): Promise<void> {
  for (const step of [100, ms - 100]) {
    await app.runDueJobs();
    emulator.clock.advance(step);
    await emulator.idle();
    await app.advanceTime(step);
  }
}

async function control({ url }: Emulator, path: string, body: object): Promise<void> {
  const answer = await fetch(`${url}/emulator${path}`, { method: "POST", body: JSON.stringify(body) });
  if (!answer.ok) {
    throw new Error(`POST /emulator${path}: ${await answer.text()}`);
  }
}
