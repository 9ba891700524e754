/**
 * What becomes of each value in Meta's examples of webhooks. Each example arrives twice; each of its values
 * is found in what the API shows afterwards, or has the reason why it is not shown.
 * docs/whatsapp-examples.md has the result.
 */
import { isDeepStrictEqual } from "node:util";
import { sql } from "kysely";
import { expect, test } from "vitest";
import { code, table } from "../scripts/docs/markdown.ts";
import { contacts } from "../tools/contacts.ts";
import { conversations } from "../tools/conversations.ts";
import { messages } from "../tools/messages/index.ts";
import examples from "./fixtures/whatsapp/meta-openapi-examples.json" with { type: "json" };
import type { TestApp } from "./support/app.ts";
import { adaptPayload, postPayload, sendSubject } from "./support/captured-payloads.ts";
import { jpeg } from "./support/files.ts";
import { readTableBelow } from "./support/page-table.ts";
import { type GraphApi, type Inbox, openWindow, useWhatsApp } from "./support/whatsapp.ts";
import type { Json } from "./support/whatsapp-emulator.ts";

let graph: GraphApi;
let app: TestApp;
let inbox: Inbox;
useWhatsApp((started) => {
  ({ graph, app, inbox } = started);
  graph.routes["GET 1003383421387256"] = () => ({ body: { url: `${graph.url}/file/content` } });
  graph.routes["GET content"] = () => ({ body: jpeg, headers: { "content-type": "image/jpeg" } });
});

const requests = examples.operations["post /whatsapp/webhooks"];

/** What all examples have: a constant, and the ids that select the inbox. */
const ofEveryWebhook = ["messaging_product", "metadata.display_phone_number", "metadata.phone_number_id"];
/** What the API shows of every message. */
const ofEveryMessage = ["channel_message_id", "contact.name", "contact.phone_number", "from", "sent_at"];

const change = "the number is changed, and no message is stored";
/** Why the API does not show a value, by the value's path in the webhook. */
const reasons: Readonly<Record<string, string>> = {
  "messages.context.from": "the inbox's own number",
  "messages.image.id": "the file is copied to `media.url`",
  "messages.image.mime_type": "the copy has the type of its content",
  "messages.interactive.type": "says which member follows",
  "messages.order.text": "empty: `order.note` is `null`",
  "messages.system.body": change,
  "messages.system.type": change,
  groups: "no group is stored: Tidings neither creates nor joins groups",
};
/** Reasons that hold for the examples with one name only. */
const reasonsOf: Readonly<Record<string, typeof reasons>> = {
  "Button Message": { "messages.type": "`interactive`, as every choice" },
  "Reaction Message": {
    "contacts.profile.name": "a contact is named by its messages",
    "messages.id": "a reaction is no message, and has no id",
    "messages.type": "a reaction is no message, and has no type",
  },
  "System Message": {
    "messages.from": change,
    "messages.id": change,
    "messages.timestamp": change,
    "messages.type": change,
  },
};

interface Value {
  /** The members that lead to the value, without the positions in lists. */
  readonly path: string;
  readonly value: unknown;
}

function valuesOf(content: unknown, path = ""): readonly Value[] {
  if (typeof content !== "object" || content === null) {
    return content === undefined || content === null ? [] : [{ path, value: content }];
  }
  return Object.entries(content).flatMap(([name, inner]) =>
    valuesOf(inner, Array.isArray(content) ? path : [path, name].filter(Boolean).join(".")),
  );
}

/** All rows that a webhook can change. */
async function readState(): Promise<unknown> {
  const state: Record<string, unknown> = {};
  for (const name of ["messages", "conversations", "contacts", "contact_identities", "inboxes", "events"]) {
    const { rows } = await sql`select * from ${sql.table(name)} order by 1, 2`.execute(
      app.server.database.queries,
    );
    state[name] = rows;
  }
  return state;
}

/** The message with this id at WhatsApp, as the API shows it. */
async function readMessage(wamid: string) {
  const row = await app.server.database.queries
    .selectFrom("messages")
    .select(["conversation_id", "id as message_id"])
    .where("channel_message_id", "=", wamid)
    .executeTakeFirst();
  return row && (await app.call(messages.get_message, row)).data;
}

/** The contact with this number, as the API shows it. */
async function readContact(number: string | undefined) {
  const identity = await app.server.database.queries
    .selectFrom("contact_identities")
    .select("contact_id as id")
    .where("value", "=", `+${number}`)
    .executeTakeFirst();
  return identity && (await app.call(contacts.get_contact, identity)).data;
}

interface Outcome {
  /** Undefined: nothing has changed. */
  readonly effect: string | undefined;
  /** What the API shows. */
  readonly shown: readonly Value[];
  /** The message that is quoted: its id at WhatsApp, and ours. */
  readonly quoted: ReadonlyMap<unknown, string>;
}

/** Posts the example twice, and reads what it has changed. */
async function receive(payload: Json): Promise<Outcome> {
  const target = { graph, app, inbox };
  const [message] = payload.entry[0].changes[0].value.messages ?? [];
  const subject = await sendSubject(target, payload);
  if (message?.system) {
    await openWindow(app, inbox, message.from);
  }
  const known = await readContact(message?.from);
  const before = await readState();
  expect(await postPayload(target, payload)).toBe(200);
  const after = await readState();
  expect(await postPayload(target, payload)).toBe(200);
  expect(await readState()).toEqual(after);
  const received = await readMessage(message?.id ?? "");
  const about = await subject?.read();
  const contact = await readContact(message?.system?.wa_id ?? message?.from);
  const conversation =
    received && (await app.call(conversations.get_conversation, { id: received.conversation_id })).data;
  const effects = {
    [`A message of the type \`${received?.type}\`${received?.reply_to ? ", a reply" : ""}`]: received,
    "A reaction of the message that it is about": about?.reactions?.length,
    "The contact has another number": known && known.phone_number !== contact?.phone_number,
  };
  const effect = Object.keys(effects).find((name) => effects[name]);
  expect(isDeepStrictEqual(after, before)).toBe(effect === undefined);
  const shown = valuesOf({ ...(received ?? about), contact, conversation });
  const quoted = new Map(received && about ? [[message.context.id, about.id]] : []);
  return { effect, shown, quoted };
}

/** The forms in which the API may show a value of a webhook. */
function formsOf(value: unknown, { quoted }: Outcome): readonly unknown[] {
  const isTime = /^1[67]\d{8}$/.test(`${value}`);
  const ours = quoted.get(value);
  return [
    value,
    `+${value}`,
    ...(isTime ? [new Date(Number(value) * 1000).toISOString()] : []),
    ...(ours === undefined ? [] : [ours]),
  ];
}

const lastName = (path: string) => path.split(".").at(-1);
const isNamed = ({ path }: Value) => !path.startsWith("channel_data.");

/**
 * Finds each value of a webhook in what the API shows. A value of the API shows one value of the webhook,
 * also where several are equal: those with the same name belong together, and the others in their order.
 */
function trace(sent: readonly Value[], outcome: Outcome): ReadonlyMap<Value, string> {
  const free = new Set(outcome.shown);
  const places = new Map<Value, string>();
  const rules: readonly ((place: Value, value: Value) => boolean)[] = [
    (place, value) => isNamed(place) && lastName(place.path) === lastName(value.path),
    isNamed,
    () => true,
  ];
  for (const isPlace of rules) {
    for (const value of sent.filter((one) => one.value !== "" && !places.has(one))) {
      const forms = formsOf(value.value, outcome);
      const place = [...free].find((one) => forms.includes(one.value) && isPlace(one, value));
      if (place) {
        free.delete(place);
        places.set(value, place.path);
      }
    }
  }
  return places;
}

/** The part of the webhook that a reason is about. */
function partOf(path: string): string {
  const [first = ""] = path.split(".");
  return reasons[first] === undefined ? path : first;
}

const reasonOf = (name: string, part: string) => reasonsOf[name]?.[part] ?? reasons[part];

const listed = (paths: readonly (string | undefined)[]) =>
  [...new Set(paths)].map((path) => code(path ?? "")).join(", ");

let repetition = 300;

/** The row of an example in the table. */
async function describeExample({ name, value: example }: (typeof requests)[number]) {
  repetition += 1;
  const payload = adaptPayload(example, repetition);
  const outcome = await receive(payload);
  const sent = valuesOf(payload.entry[0].changes[0].value).filter(
    ({ path }) => !ofEveryWebhook.includes(path),
  );
  const places = trace(sent, outcome);
  const shown = [...places.values()];
  const isMessage = outcome.effect?.startsWith("A message") ?? false;
  expect(isMessage ? ofEveryMessage.filter((path) => !shown.includes(path)) : []).toEqual([]);
  const hidden = sent.filter((value) => !places.has(value)).map(({ path }) => partOf(path));
  const reasonsOfHidden = new Set(hidden.map((path) => reasonOf(name, path)));
  const explained = [...reasonsOfHidden].map(
    (reason) => `${listed(hidden.filter((path) => reasonOf(name, path) === reason))}: ${reason ?? "LOST"}`,
  );
  const own = isMessage ? shown.filter((path) => !ofEveryMessage.includes(path)) : shown;
  return [name, outcome.effect ?? "Nothing", listed(own.sort()), explained.join("; ")];
}

test("the page has what becomes of each value of each example, and none is lost", {
  timeout: 240_000,
}, async () => {
  const rows: string[][] = [];
  for (const example of requests) {
    rows.push(await describeExample(example));
  }
  const written = table(["Example", "Effect", "Shown", "Not shown, and why"], rows);
  expect(written).not.toContain("LOST");
  expect(await readTableBelow("docs/whatsapp-examples.md", "What is received")).toBe(written);
});
