/** What customers of the WhatsApp emulator change: their messages, and whether they want marketing. */
import { expect, test } from "vitest";
import {
  approveTemplate,
  customer,
  type Json,
  phone_number_id,
  startAt,
  useEmulator,
} from "../../test/support/whatsapp-emulator.ts";

const current = useEmulator();

async function write(content: object) {
  const { control, emulator } = current();
  const answer = await control("POST", "/inbound", { from: customer, ...content });
  await emulator.idle();
  return answer;
}

const reported = () => current().changes("messages").at(-1).value.messages[0];
const shown = async () => (await current().control("GET", `/customers/${customer}/messages`)).body.data;

test("an edit reports the new text, and the phone shows it", async () => {
  const { id } = (await write({ text: "Helo" })).body.messages[0];
  await write({ edit: { message_id: id, text: "Hello" } });
  expect(reported()).toMatchObject({
    from: customer,
    type: "edit",
    edit: { original_message_id: id, message: { type: "text", text: { body: "Hello" } } },
  });
  expect(await shown()).toMatchObject([{ id, body: { text: { body: "Hello" } } }]);
});

test("an edit of a file changes its caption", async () => {
  const { id } = (await write({ media: { type: "image", caption: "Lok" } })).body.messages[0];
  const [{ body }] = await shown();
  await write({ edit: { message_id: id, text: "Look" } });
  const image = { ...body.image, caption: "Look" };
  expect(reported().edit.message).toEqual({ context: { id }, type: "image", image });
});

test("a revocation reports the message, which is gone from the phone", async () => {
  const { id } = (await write({ text: "Oops" })).body.messages[0];
  await write({ revoke: { message_id: id } });
  expect(reported()).toMatchObject({ type: "revoke", revoke: { original_message_id: id } });
  expect(await shown()).toEqual([]);
});

test("only own messages with a text can be edited", async () => {
  const { id } = (await write({ from: "14155550199", text: "Mine" })).body.messages[0];
  const { id: place } = (await write({ location: { latitude: 1, longitude: 2 } })).body.messages[0];
  const edit = async (message_id: string) => (await write({ edit: { message_id, text: "x" } })).status;
  expect([await edit(id), await edit("wamid.unknown"), await edit(place)]).toEqual([404, 404, 400]);
});

test("a reaction does not open the window", async () => {
  const { send, advance, statuses } = current();
  await write({ reaction: { message_id: "wamid.a", emoji: "👍" } });
  await send();
  await advance(1_000);
  expect(statuses()[0].errors[0].code).toBe(131047);
});

test("a customer stops marketing: it is reported, and marketing templates fail until it is resumed", async () => {
  const emulator = current();
  const { control, changes, send, advance, statuses } = emulator;
  await write({ text: "Hi", name: "Ada" });
  await approveTemplate(emulator, { name: "sale", category: "MARKETING" });
  const choose = async (value: string) => {
    await control("POST", `/customers/${customer}/marketing`, { value });
    await emulator.emulator.idle();
    return changes("user_preferences").at(-1).value;
  };
  const sendSale = async () => {
    await send({ type: "template", template: { name: "sale", language: { code: "en_US" } } });
    await advance(10_000);
    return statuses().at(-1);
  };
  const value = await choose("stop");
  expect(value).toMatchObject({
    metadata: { phone_number_id },
    contacts: [{ wa_id: customer }],
    user_preferences: [{ wa_id: customer, category: "marketing_messages", value: "stop" }],
  });
  expect(value.user_preferences[0].timestamp).toBe(Math.floor((startAt + 1_000) / 1000));
  expect(await sendSale()).toMatchObject({ status: "failed", errors: [{ code: 131050 }] });
  const stops = ({ user_preferences }: Json) => user_preferences.map((one: Json) => one.value);
  expect(stops(await choose("resume"))).toEqual(["resume"]);
  expect((await sendSale()).status).toBe("delivered");
});
