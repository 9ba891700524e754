/** Who acts: stored with messages and assignments, and asked by the rules about a person's reply. */
import { expect, test } from "vitest";
import { auth } from "../tools/auth.ts";
import { conversations } from "../tools/conversations.ts";
import { messages } from "../tools/messages/index.ts";
import { routing } from "../tools/routing.ts";
import { useTestApp } from "./support/app.ts";
import { openPhone } from "./support/simulator.ts";
import { createTeamWithMembers, insertAgent } from "./support/teams.ts";
import { createUserWithRole, signIn } from "./support/users.ts";

const app = useTestApp();

const system = { type: "system", id: "system", name: "Tidings" };

async function send(to: string, key?: string) {
  const input = { to, type: "text", text: { body: "hello" } } as const;
  const { id: message_id, conversation_id } = (
    await app.call(messages.send_message, input, key === undefined ? {} : { key })
  ).data;
  return (await app.call(messages.get_message, { conversation_id, message_id })).data;
}

const get = async (id: string) => (await app.call(conversations.get_conversation, { id })).data;
const list = async (conversation_id: string) =>
  (await app.call(messages.list_messages, { conversation_id })).data;
const latestAssignment = async (id: string) =>
  (await app.call(conversations.list_assignments, { id })).data[0];

test("a message names the API key or the user who sent it, and an inbound one has no sender", async () => {
  const { credential } = (await app.call(auth.whoami, {})).data;
  expect((await send("+14155550130")).sent_by).toEqual({
    type: "api_key",
    id: credential.id,
    name: credential.name,
  });
  const { email } = await createUserWithRole(app, "agent");
  const session = await signIn(app, email);
  const byUser = await send("+14155550130", session.access_token);
  expect(byUser.sent_by).toEqual({ type: "user", id: session.user.id, name: session.user.name });
  const { conversation_id } = await openPhone(app, "+14155550130").write("hi");
  expect((await list(conversation_id)).map(({ sent_by }) => sent_by?.type ?? null)).toEqual([
    null,
    "user",
    "api_key",
  ]);
});

test("an automatic confirmation is the service's own, and no reply to the contact", async () => {
  const { conversation_id } = await openPhone(app, "+14155550131").write("stop");
  const [confirmation] = await list(conversation_id);
  expect(confirmation).toMatchObject({ direction: "outbound", sent_by: system });
  expect(await get(conversation_id)).toMatchObject({
    is_unread: true,
    waiting_since: app.now().toISOString(),
  });
  await app.call(conversations.update_conversation, { id: conversation_id, status: "pending" });
  await openPhone(app, "+14155550131").write("start");
  expect((await get(conversation_id)).status).toBe("pending");
  // A person's message is one.
  await send("+14155550131");
  expect(await get(conversation_id)).toMatchObject({ status: "open", is_unread: false, waiting_since: null });
});

test("an assignment names the API key or the user who made it, and the service for routing", async () => {
  const { conversation_id: id } = await openPhone(app, "+14155550132").write("hi");
  const agent = await insertAgent(app, "Ben");
  const { credential } = (await app.call(auth.whoami, {})).data;
  await app.call(conversations.assign_conversation, { id, assigned_to: agent });
  expect(await latestAssignment(id)).toMatchObject({
    assigned_by: credential.id,
    assigned_by_type: "api_key",
  });
  const { email } = await createUserWithRole(app, "supervisor");
  const session = await signIn(app, email);
  await app.call(conversations.unassign_conversation, { id }, { key: session.access_token });
  expect(await latestAssignment(id)).toMatchObject({
    assigned_by: session.user.id,
    assigned_by_type: "user",
  });

  const { id: target_id } = await createTeamWithMembers(app, {}, { Cleo: {} });
  const policy = { name: "Everyone", strategy: "round_robin", target_type: "team", target_id } as const;
  await app.call(routing.create_routing_policy, { ...policy, conditions: {}, is_active: true });
  const { conversation_id: routed } = await openPhone(app, "+14155550133").write("hi");
  await app.runDueJobs();
  expect(await latestAssignment(routed)).toMatchObject({
    assignment_type: "routing",
    assigned_by: "system",
    assigned_by_type: "system",
  });
});
