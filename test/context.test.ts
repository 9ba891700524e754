/**
 * A conversation's context: its contents, and a list of allowed actions that matches what the API accepts.
 */
import { beforeAll, expect, test } from "vitest";
import { CallFailure } from "../src/client/index.ts";
import { toolsOf } from "../src/platform/index.ts";
import { apiKeys } from "../tools/api-keys.ts";
import { auth } from "../tools/auth.ts";
import { contacts } from "../tools/contacts.ts";
import type { Scope } from "../tools/contract/index.ts";
import { conversations } from "../tools/conversations.ts";
import { messages } from "../tools/messages/index.ts";
import { ownerEmail, ownerPassword, useTestApp } from "./support/app.ts";
import { expectFailure } from "./support/expect-failure.ts";
import { iterations } from "./support/iterations.ts";
import { createOtherTenant } from "./support/other-tenant.ts";
import { openPhone } from "./support/simulator.ts";
import { insertAgent } from "./support/teams.ts";
import { createTemplateHelpers } from "./support/templates.ts";

const hours = 3_600_000;
const app = useTestApp();
/** Users of the organization. */
let user: string;
let colleague: string;
beforeAll(async () => {
  const login = { email: ownerEmail, password: ownerPassword };
  user = (await app.call(auth.login, login)).data.user.id;
  colleague = await insertAgent(app, "Ben");
  await createTemplateHelpers(app).approve({ name: "greeting" });
});

const read = async (id: string, key?: string) =>
  (await app.call(messages.get_conversation_context, { id }, key === undefined ? {} : { key })).data;
const keyWith = async (scopes: Scope[]) =>
  (await app.call(apiKeys.create_api_key, { name: scopes.join(), scopes })).data.secret_key;

test("the context contains the conversation, the contact and the latest messages, oldest first", async () => {
  const customer = openPhone(app, "+14155550621");
  const { conversation_id: id } = await customer.write("one", { name: "Ada" });
  const { data: conversation } = await app.call(conversations.get_conversation, { id });
  const { contact_id } = conversation;
  await app.call(contacts.update_contact, { id: contact_id, metadata: { plan: "gold" } });
  await customer.write("two");
  await app.call(messages.send_message, { to: "+14155550621", type: "text", text: { body: "three" } });
  const context = await read(id);
  expect(context.conversation).toEqual((await app.call(conversations.get_conversation, { id })).data);
  expect(context.contact).toMatchObject({
    id: contact_id,
    name: "Ada",
    metadata: { plan: "gold" },
    tags: [],
  });
  expect(context.messages.map(({ text }) => text?.body)).toEqual(["one", "two", "three"]);
  const { data: short } = await app.call(messages.get_conversation_context, { id, messages: 2 });
  expect(short.messages.map(({ text }) => text?.body)).toEqual(["two", "three"]);
});

test("the context says who the conversation is assigned to, and why", async () => {
  const { conversation_id: id } = await openPhone(app, "+14155550629").write("hallo");
  expect((await read(id)).assignment).toBeNull();
  await app.call(conversations.assign_conversation, { id, assigned_to: user, reason: "Writes German" });
  expect((await read(id)).assignment).toMatchObject({
    assigned_to: user,
    assignment_type: "manual",
    reason: "Writes German",
  });
});

test("without contacts:read the contact's tags, attributes and blocked_reason are not shown", async () => {
  const { conversation_id } = await openPhone(app, "+14155550622").write("hi", { name: "Bo" });
  const { id } = (await read(conversation_id)).contact;
  await app.call(contacts.update_contact, { id, blocked: true, blocked_reason: "Fraud" });
  const { contact } = await read(conversation_id, await keyWith(["inbox:read"]));
  const blocked_at = app.now().toISOString();
  expect(contact).toMatchObject({ name: "Bo", phone_number: "+14155550622", blocked: true, blocked_at });
  for (const hidden of ["tags", "metadata", "blocked_reason"]) {
    expect(contact).not.toHaveProperty(hidden);
  }
  expect((await read(conversation_id)).contact).toMatchObject({ blocked: true, blocked_reason: "Fraud" });
});

test("the cursor continues after the last message", async () => {
  const customer = openPhone(app, "+14155550623");
  const { conversation_id } = await customer.write("before");
  const { cursor: after } = await read(conversation_id);
  await customer.write("after");
  const { data } = await app.call(messages.wait_for_message, { conversation_id, after });
  expect(data.map(({ text }) => text?.body)).toEqual(["after"]);
});

test("another tenant's conversation and an erased contact's are not found", async () => {
  const other = await createOtherTenant(app);
  expect(await expectFailure(read(other.conversation_id))).toMatchObject({ status: 404 });
  const { conversation_id } = await openPhone(app, "+14155550624").write("forget me");
  const { contact } = await read(conversation_id);
  await app.call(contacts.delete_contact, { id: contact.id });
  expect(await expectFailure(read(conversation_id))).toMatchObject({ code: "conversation_not_found" });
});

test("each action is named after an existing tool", async () => {
  const { conversation_id } = await openPhone(app, "+14155550625").write("hi");
  const { actions } = await read(conversation_id);
  const names = actions.map(({ tool }) => tool);
  expect(names).toEqual(expect.arrayContaining(["send_message", "wait_for_message", "tag_contact"]));
  expect(names.filter((name) => !toolsOf().has(name))).toEqual([]);
});

test("unassign_conversation is listed while there is an agent, or routing looks for one", async () => {
  const { conversation_id: id } = await openPhone(app, "+14155550627").write("hi");
  const isListed = async () => (await read(id)).actions.some(({ tool }) => tool === "unassign_conversation");
  const set = (columns: { assigned_to?: string | null; queued_at?: string | null }) =>
    app.server.database.queries.updateTable("conversations").set(columns).where("id", "=", id).execute();
  expect(await isListed()).toBe(false);
  await set({ assigned_to: user });
  expect(await isListed()).toBe(true);
  await set({ assigned_to: null, queued_at: app.now().toISOString() });
  expect(await isListed()).toBe(true);
});

test("with a closed window the reason says since when, and what to do instead", async () => {
  const { conversation_id } = await openPhone(app, "+14155550626").write("hi");
  await setRule("strict");
  await app.advanceTime(25 * hours);
  const { actions, conversation } = await read(conversation_id);
  const send = actions.find(({ tool }) => tool === "send_message");
  expect(send).toMatchObject({ is_allowed: false });
  expect(send?.reason).toContain(conversation.window_expires_at);
  expect(send?.reason).toContain("wait_for_message");
  await setRule("advisory");
});

test("a contact without a visible number can be sent to by its bsuid", async () => {
  const user_id = "US.13491208655302740621";
  const { conversation_id } = await openPhone(app, user_id).write("hi", { from: undefined, user_id });
  const { actions, contact } = await read(conversation_id);
  expect(contact).toMatchObject({ phone_number: null, bsuid: user_id });
  expect(actions.find(({ tool }) => tool === "send_message")).toMatchObject({
    is_allowed: true,
    reason: null,
  });
  const { data } = await app.call(messages.send_message, {
    to: contact.bsuid ?? "",
    type: "text",
    text: { body: "hello" },
  });
  expect(data).toMatchObject({ conversation_id });
});

const scopeSets: readonly Scope[][] = [
  ["inbox:read"],
  ["inbox:read", "inbox:write"],
  ["inbox:read", "contacts:write", "contacts:manage"],
  ["inbox:read", "inbox:write", "contacts:read", "contacts:write", "contacts:manage"],
];
const statuses = ["open", "pending", "closed", "snoozed", "spam"] as const;
const windows = ["open", "closed", "never"] as const;
interface State {
  readonly status: (typeof statuses)[number];
  readonly window: (typeof windows)[number];
  readonly rule: "strict" | "advisory";
  readonly isAssigned: boolean;
  readonly isBlocked?: boolean;
}
const states: readonly State[] = [
  ...statuses.map((status) => ({ status, window: "open", rule: "strict", isAssigned: true }) as const),
  ...windows.map(
    (window) => ({ status: "open", window, rule: "strict", isAssigned: true, isBlocked: true }) as const,
  ),
  ...windows.flatMap((window) =>
    (["strict", "advisory"] as const).flatMap((rule) =>
      [false, true].map((isAssigned) => ({ status: "open", window, rule, isAssigned }) as const),
    ),
  ),
];

test("allowed actions are accepted and others rejected, in every state and with every set of scopes", async () => {
  const keys = await Promise.all(scopeSets.map(keyWith));
  let number = 4155550700;
  const mismatches: object[] = [];
  for (const [place, state] of states.entries()) {
    for (const [index, key] of keys.entries()) {
      // All scopes, and one of the other sets; with SOAK each of them.
      if (index < keys.length - 1 && (index - place) % iterations(keys.length - 1, 1) !== 0) {
        continue;
      }
      number += 1;
      const target = await createInState(state, `+1${number}`);
      for (const action of (await read(target.id, key)).actions) {
        // Each attempt starts in the state that the list was made for.
        await setState(state, target.id);
        const isAccepted = await attempt(action, target, key);
        if (isAccepted !== action.is_allowed || (action.reason === null) !== action.is_allowed) {
          mismatches.push({ ...state, scopes: scopeSets[index], action, isAccepted });
        }
      }
    }
  }
  await setRule("advisory");
  expect(mismatches).toEqual([]);
}, 300_000);

test.runIf(toolsOf().has("update_conversation"))(
  "the listed statuses are those that update_conversation accepts",
  async () => {
    for (const [index, status] of statuses.entries()) {
      const state = { status, window: "open", rule: "advisory", isAssigned: false } as const;
      const { id } = await createInState(state, `+1415555069${index}`);
      const { actions } = await read(id);
      const listed = actions.find(({ tool }) => tool === "update_conversation")?.statuses;
      const accepted: string[] = [];
      for (const wanted of statuses.filter((one) => one !== status)) {
        await setState(state, id);
        const answer = await app.fetch(`/v1/conversations/${id}`, {
          method: "PATCH",
          json: { status: wanted },
        });
        accepted.push(...(answer.ok ? [wanted] : []));
      }
      expect([...(listed ?? [])].sort()).toEqual(accepted.sort());
    }
  },
);

type Context = Awaited<ReturnType<typeof read>>;
interface Target {
  readonly id: string;
  readonly contact_id: string;
  readonly to: string;
}

async function createInState(state: State, to: string): Promise<Target> {
  const { conversation_id: id } = await openPhone(app, to).write("hi");
  const { contact_id } = (await app.call(conversations.get_conversation, { id })).data;
  await setState(state, id);
  return { id, contact_id, to };
}

async function setState(state: State, id: string): Promise<void> {
  const { status, window, rule, isAssigned, isBlocked = false } = state;
  await setRule(rule);
  const age = { open: 1, closed: 25, never: undefined }[window];
  const wroteAt = age === undefined ? null : new Date(app.now().getTime() - age * hours).toISOString();
  const { contact_id } = await app.server.database.queries
    .updateTable("conversations")
    .set({ status, last_user_message_at: wroteAt, assigned_to: isAssigned ? user : null })
    .where("id", "=", id)
    .returning("contact_id")
    .executeTakeFirstOrThrow();
  await app.server.database.queries
    .updateTable("contacts")
    .set({ blocked_at: isBlocked ? app.now().toISOString() : null })
    .where("id", "=", contact_id)
    .execute();
}

/** The call that performs each action. An action that is missing here fails the test. */
const attempts: Readonly<Record<string, (target: Target, statuses: string[]) => [string, object]>> = {
  send_message: ({ to }) => ["send_message", { to, body: "hello" }],
  send_media_message: ({ to }) => [
    "send_media_message",
    { to, type: "image", media_url: "https://example.com/a.png" },
  ],
  send_interactive_message: ({ to }) => [
    "send_interactive_message",
    { to, body: "?", buttons: [{ id: "y", title: "Yes" }] },
  ],
  send_template_message: ({ to }) => [
    "send_template_message",
    { to, template_name: "greeting", language: "en" },
  ],
  wait_for_message: ({ id }) => ["wait_for_message", { conversation_id: id, timeout_seconds: 0 }],
  assign_conversation: ({ id }) => ["assign_conversation", { id, assigned_to: user }],
  transfer_conversation: ({ id }) => ["transfer_conversation", { id, from_agent: user, to_agent: colleague }],
  unassign_conversation: ({ id }) => ["unassign_conversation", { id }],
  update_conversation: ({ id }, [status]) => ["update_conversation", { id, status }],
  update_contact: ({ contact_id }) => ["update_contact", { id: contact_id, name: "Ann" }],
  tag_contact: ({ contact_id }) => ["tag_contact", { id: contact_id, add: ["vip"] }],
};

async function attempt(action: Context["actions"][number], target: Target, key: string) {
  const [name, input] = attempts[action.tool]?.(target, action.statuses ?? []) ?? [];
  const answer = await app.fetch("/v1/mcp/tools/call", {
    method: "POST",
    key,
    json: { name, arguments: input },
  });
  const body = await answer.text();
  if (answer.status >= 500 || answer.status === 400 || answer.status === 404) {
    throw new CallFailure({ status: answer.status, code: action.tool, message: body });
  }
  return answer.ok;
}

async function setRule(service_window: string): Promise<void> {
  await app.server.database.queries
    .updateTable("inboxes")
    .set({ settings: JSON.stringify({ service_window }) })
    .execute();
}
