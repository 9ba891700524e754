/** Presence: which conversation a person has open, in the streams of the others. */
import { expect, test } from "vitest";
import { apiKeys } from "../tools/api-keys.ts";
import { ownerKey, useTestApp } from "./support/app.ts";
import { openStream, requestStream } from "./support/event-stream.ts";
import { createOtherTenant } from "./support/other-tenant.ts";
import { openPhone } from "./support/simulator.ts";
import { createUserWithRole, signIn, trustedProxyEnv } from "./support/users.ts";

const app = useTestApp({ env: trustedProxyEnv });
const query = { types: "message.received", presence: "true" };

async function signPerson() {
  const { id, name, email } = await createUserWithRole(app, "agent");
  const { access_token: key } = await signIn(app, email);
  return { id, name, key };
}

type State = "viewing" | "writing" | "away";

async function send(key: string, conversation_id: string, state: string) {
  const json = { conversation_id, state };
  const answer = await app.fetch("/v1/events/presence", { method: "PUT", key, json });
  return { status: answer.status, body: (await answer.json()) as Record<string, unknown> };
}

const openConversation = async (number: string) => (await openPhone(app, number).write("Hi")).conversation_id;

test("the others see who has a conversation open and who writes, until the person leaves", async () => {
  const [ana, conversation_id] = [await signPerson(), await openConversation("+14155550811")];
  await using stream = await openStream(app, { query });
  const expectShown = async (state: State, shown: readonly object[]) => {
    expect((await send(ana.key, conversation_id, state)).status).toBe(200);
    expect(await stream.next()).toEqual({ id: undefined, event: "presence", data: shown });
  };
  const own = { conversation_id, user_id: ana.id, user_name: ana.name };
  await expectShown("viewing", [{ ...own, is_writing: false }]);
  await expectShown("writing", [{ ...own, is_writing: true }]);
  await expectShown("away", []);
});

test("a person is in one conversation, and leaving an earlier one changes nothing", async () => {
  const [ana, first, second] = [
    await signPerson(),
    await openConversation("+14155550812"),
    await openConversation("+14155550813"),
  ];
  for (const [conversation, state] of [
    [first, "viewing"],
    [second, "writing"],
    [first, "away"],
  ] as const) {
    expect((await send(ana.key, conversation, state)).status).toBe(200);
  }
  await using stream = await openStream(app, { query });
  expect((await stream.next())?.data).toEqual([
    { conversation_id: second, user_id: ana.id, user_name: ana.name, is_writing: true },
  ]);
  expect((await send(ana.key, second, "away")).body).toEqual({ data: { expires_at: null } });
  expect((await stream.next())?.data).toEqual([]);
});

test("a presence that is not repeated ends after 45 seconds", async () => {
  const [ana, conversation_id] = [await signPerson(), await openConversation("+14155550814")];
  const { body } = await send(ana.key, conversation_id, "viewing");
  expect(body).toEqual({ data: { expires_at: new Date(app.now().getTime() + 45_000).toISOString() } });
  await using stream = await openStream(app, { query });
  expect((await stream.next())?.data).toHaveLength(1);
  await app.advanceTime(45_000);
  expect((await stream.next())?.data).toEqual([]);
});

test("other organizations see nothing, and nobody is present in a conversation that is not theirs", async () => {
  const stranger = await createOtherTenant(app);
  const [ana, conversation_id] = [await signPerson(), await openConversation("+14155550815")];
  await using theirs = await openStream(app, { key: stranger.key, query });
  await send(ana.key, conversation_id, "viewing");
  await openPhone(app, "+14155550816", stranger.key).write("Theirs");
  expect(await theirs.next()).toMatchObject({ event: "message.received" });
  expect(await send(ana.key, stranger.conversation_id, "viewing")).toMatchObject({
    status: 404,
    body: { error: { code: "conversation_not_found" } },
  });
  await send(ana.key, conversation_id, "away");
});

test("a stream shows presence only when it asks for it, with the scope that reads conversations", async () => {
  const [ana, conversation_id] = [await signPerson(), await openConversation("+14155550817")];
  await send(ana.key, conversation_id, "viewing");
  await using plain = await openStream(app, { query: { types: "message.received" } });
  await openPhone(app, "+14155550817").write("Hi again");
  expect(await plain.next()).toMatchObject({ event: "message.received" });
  const { data: key } = await app.call(apiKeys.create_api_key, { name: "reads", scopes: ["contacts:read"] });
  const refused = await requestStream(app, {
    key: key.secret_key,
    query: { types: "contact.created", presence: "true" },
  });
  expect(refused.response.status).toBe(403);
  await send(ana.key, conversation_id, "away");
});

test.each([
  ["an API key", ownerKey, "viewing", 401, "sign_in_required"],
  ["an unknown state", undefined, "asleep", 400, "invalid_request"],
])("%s is rejected", async (_what, key, state, status, code) => {
  const person = await signPerson();
  expect(await send(key ?? person.key, "conv_unknown", state)).toMatchObject({
    status,
    body: { error: { code } },
  });
});
