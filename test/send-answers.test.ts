/**
 * The answer of sending: whom the message goes to, who sent it, and what became of it
 * while the caller waited.
 */
import { beforeEach, expect, test } from "vitest";
import { apiKeys } from "../tools/api-keys.ts";
import { contacts } from "../tools/contacts.ts";
import type { InputOf } from "../tools/contract/index.ts";
import { messages } from "../tools/messages/index.ts";
import { useTestApp } from "./support/app.ts";
import { expectFailure } from "./support/expect-failure.ts";
import { openPhone, setFaults } from "./support/simulator.ts";
import { startWaiting } from "./support/waiting.ts";

const app = useTestApp({ env: { TIDINGS_QUOTA_WAITING_CALLS: "1" } });
beforeEach(() => setFaults(app, {}));

type Fields = Partial<InputOf<typeof messages.send_message>>;

const send = async (
  to: string,
  fields: Fields = {},
  options: { key?: string; idempotencyKey?: string } = {},
) =>
  (await app.call(messages.send_message, { to, type: "text", text: { body: "hi" }, ...fields }, options))
    .data;

test("the answer names the contact, whether it was created, and who sent the message", async () => {
  const { data: key } = await app.call(apiKeys.create_api_key, {
    name: "Assistant",
    scopes: ["inbox:write", "inbox:read"],
  });
  const first = await send("+14155550801", {}, { key: key.secret_key });
  expect(first).toMatchObject({
    status: "queued",
    error: null,
    contact: { name: null, created: true },
    sent_by: { type: "api_key", id: key.id, name: "Assistant" },
  });
  const { id } = first.contact;
  await app.call(contacts.update_contact, { id, name: "Ada" });
  expect((await send("+1 (415) 555-0801")).contact).toEqual({ id, name: "Ada", created: false });
});

test("of concurrent first messages to a number, one creates the contact, and all name it", async () => {
  const sent = await Promise.all(Array.from({ length: 5 }, () => send("+14155550802")));
  expect(new Set(sent.map(({ contact }) => contact.id)).size).toBe(1);
  expect(sent.filter(({ contact }) => contact.created)).toHaveLength(1);
});

test("a call with wait_seconds answers as soon as the message is delivered", async () => {
  const { answer } = await startWaiting(() => send("+14155550803", { wait_seconds: 10 }));
  await app.advanceTime(1_000);
  expect(await answer).toMatchObject({ status: "delivered", error: null });
});

test("a call with wait_seconds answers as soon as the message has failed, with the error", async () => {
  await setFaults(app, { failures: [{ code: 131026, to: "+14155550804" }] });
  const { answer } = await startWaiting(() => send("+14155550804", { wait_seconds: 10 }));
  await app.advanceTime(1_000);
  expect(await answer).toMatchObject({ status: "failed", error: { code: "undeliverable" } });
});

test("a call whose time is over answers with the status that the message has then", async () => {
  await setFaults(app, { failures: [{ code: 130429, share: 1 }] });
  const { answer } = await startWaiting(() => send("+14155550805", { wait_seconds: 2 }));
  await app.advanceTime(2_000);
  expect(await answer).toMatchObject({ status: "queued", error: null });
});

test("a repeated request sends nothing, and answers with the status of its own time", async () => {
  const options = { idempotencyKey: "once" };
  const { answer } = await startWaiting(() => send("+14155550806", { wait_seconds: 1 }, options));
  await app.advanceTime(1_000);
  const { id } = await answer;
  await openPhone(app, "+14155550806").read();
  const again = await send("+14155550806", { wait_seconds: 1 }, options);
  expect(again).toMatchObject({ id, status: "read", contact: { created: true } });
  expect(await openPhone(app, "+14155550806").listMessages()).toHaveLength(1);
});

test("with too many waiting calls the message is sent all the same, and answered at once", async () => {
  const { answer: one } = await startWaiting(() => app.call(messages.wait_for_message, {}));
  const failure = await expectFailure(app.call(messages.wait_for_message, { timeout_seconds: 0 }));
  expect(failure).toMatchObject({ status: 429 });
  expect(await send("+14155550807", { wait_seconds: 10 })).toMatchObject({ status: "queued" });
  await openPhone(app, "+14155550807").write("hi");
  expect((await one).data).toHaveLength(1);
});

test("a waiting call whose key is revoked is answered: its message was sent", async () => {
  const { data: key } = await app.call(apiKeys.create_api_key, { name: "Short", scopes: ["inbox:write"] });
  const options = { key: key.secret_key };
  const { answer } = await startWaiting(() => send("+14155550808", { wait_seconds: 10 }, options));
  await app.call(apiKeys.delete_api_key, { id: key.id });
  expect(await answer).toMatchObject({ status: "queued" });
});

test("a call can't wait more than ten seconds", async () => {
  const failure = await expectFailure(send("+14155550809", { wait_seconds: 11 }));
  expect(failure).toMatchObject({ status: 400, error: { param: "wait_seconds" } });
});
