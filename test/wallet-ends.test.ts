/** However a message ends, it holds nothing: one test for each way in which it fails. */

import { sql } from "kysely";
import { beforeAll, beforeEach, expect, test } from "vitest";
import { newJob } from "../src/jobs/job.ts";
import type { World } from "../src/platform/foundation/kernel/index.ts";
import { confirmMessageJob } from "../src/platform/inbox/messages/delivery/deliver.ts";
import { modules } from "../src/platform/index.ts";
import { contacts } from "../tools/contacts.ts";
import { conversations } from "../tools/conversations.ts";
import { inboxes } from "../tools/inboxes.ts";
import { messages } from "../tools/messages/index.ts";
import { useTestApp } from "./support/app.ts";
import { openPhone, setFaults } from "./support/simulator.ts";
import { createTemplateHelpers } from "./support/templates.ts";
import { createWalletHelpers, price, setPrices } from "./support/wallet.ts";
import { createWorldProbe } from "./support/world.ts";

const hourMs = 3_600_000;
const { probe, readWorld } = createWorldProbe();
const app = useTestApp({ enabledModules: { ...modules, probe } });
const { send, entriesOf, organization } = createWalletHelpers(app);
let world: World;

beforeAll(async () => {
  world = await readWorld(app);
  await setPrices(app);
});
/** The channel accepts nothing for now. */
beforeEach(() => setFaults(app, { failures: [{ code: 130429 }] }));

type SentMessage = Awaited<ReturnType<typeof send>>;

test("a message to a contact who is blocked", async () => {
  await expectReleased(await send("+14155550110"), "contact_blocked", async (message) => {
    await app.call(contacts.update_contact, { id: await contactOf(message), blocked: true });
    await app.advanceTime(hourMs);
  });
});

test("a marketing message to a contact who opts out", async () => {
  const to = "+14155550111";
  await createTemplateHelpers(app).approve({ name: "sale", category: "marketing" });
  const template = { name: "sale", language: "en" };
  const { data } = await app.call(messages.send_message, { to, type: "template", template });
  const optOut = async () => {
    await openPhone(app, to).write("STOP");
    await setFaults(app, {});
    await app.advanceTime(hourMs);
  };
  await expectReleased(data, "marketing_opt_out", optOut, 0.025);
});

test("a message that waits for longer than its window", async () => {
  const [inbox] = (await app.call(inboxes.list_inboxes, {})).data;
  const change = (service_window: "strict" | "advisory") =>
    app.call(inboxes.update_inbox, { id: inbox?.id ?? "", settings: { service_window } });
  await change("strict");
  await openPhone(app, "+14155550112").write("hello");
  await app.advanceTime(23 * hourMs);
  await expectReleased(await send("+14155550112"), "outside_service_window", async () => {
    await app.advanceTime(2 * hourMs);
  });
  await change("advisory");
});

test("a message that waits for more than a day", async () => {
  await expectReleased(await send("+14155550113"), "expired", async () => {
    await app.advanceTime(25 * hourMs);
  });
});

test("a message that the channel never confirms", async () => {
  await expectReleased(await send("+14155550114"), "unconfirmed", async ({ id }) => {
    const { queries } = world.database;
    await sql`update messages set status = 'sending' where id = ${id}`.execute(queries);
    await sql`delete from jobs where payload ->> 'message_id' = ${id}`.execute(queries);
    const payload = { organization_id: await organization(), message_id: id, since: app.now().toISOString() };
    await world.database.transaction((tx) => tx.enqueue([newJob(confirmMessageJob, payload)]));
    await app.advanceTime(25 * hourMs);
  });
});

test("a message whose channel is no longer configured", async () => {
  const setChannel = (name: string) =>
    sql`update inboxes set channel = ${name}`.execute(world.database.queries);
  await expectReleased(await send("+14155550115"), "unconfirmed", async ({ conversation_id }) => {
    // An unknown channel counts as a real one, whose window must be open.
    const at = app.now().toISOString();
    await sql`update conversations set last_user_message_at = ${at} where id = ${conversation_id}`.execute(
      world.database.queries,
    );
    await setChannel("gone");
    for (let attempt = 1; attempt <= 12; attempt += 1) {
      await app.advanceTime(hourMs);
    }
    await setChannel("simulator");
  });
});

test("a message to a contact who is erased", async () => {
  const message = await send("+14155550116");
  await app.advanceTime(1_000);
  await app.call(contacts.delete_contact, { id: await contactOf(message) });
  await app.advanceTime(hourMs);
  expect(await entriesOf(message.id)).toEqual([`hold ${price}`, `release ${price}`]);
});

/** Lets the message wait, ends it, and expects that it failed for this reason and holds nothing. */
async function expectReleased(
  message: SentMessage,
  code: string,
  end: (message: SentMessage) => Promise<void>,
  held: number = price,
): Promise<void> {
  await app.advanceTime(1_000);
  expect(await entriesOf(message.id)).toEqual([`hold ${held}`]);
  await end(message);
  const { conversation_id, id: message_id } = message;
  const { data } = await app.call(messages.get_message, { conversation_id, message_id });
  expect([data.status, data.error?.code]).toEqual(["failed", code]);
  expect(await entriesOf(message_id)).toEqual([`hold ${held}`, `release ${held}`]);
}

async function contactOf({ conversation_id: id }: SentMessage): Promise<string> {
  return (await app.call(conversations.get_conversation, { id })).data.contact_id;
}
