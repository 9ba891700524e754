/** Locks and reads the subject of a run: the contact, the conversation, and the latest message in the run. */
import { type Selectable, sql } from "kysely";
import {
  columnOf,
  columnsOf,
  nullable,
  ofOrganization,
  refersTo,
  rowsOf,
} from "../../../../database/query/index.ts";
import type { Tables } from "../../../../database/schema/index.ts";
import { countryOf } from "../../../account/phone/index.ts";
import type { OrganizationChange, Transaction } from "../../../foundation/kernel/index.ts";
import { readFact } from "../../../foundation/query/index.ts";
import { type ContactRow, hasAddress } from "../../../inbox/contacts/index.ts";
import type { ConversationRow } from "../../../inbox/conversations/index.ts";
import { factsOf } from "../../../inbox/routing/index.ts";
import { creatorRole } from "../definitions/find.ts";
import type { ContactReply } from "../graph/index.ts";
import { normalize, splitKeywords } from "../texts/keywords.ts";
import type { RunRow } from "./rows.ts";

/** Locks the contacts in the order of their ids, and returns the contacts to which messages may be sent. */
export async function lockReachable(
  { tx, world }: Pick<OrganizationChange, "tx" | "world">,
  organization: string,
  ids: readonly string[],
  { isConsentNeeded = false } = {},
): Promise<ReadonlySet<string>> {
  const contacts = await ofOrganization(tx, organization)
    .selectFrom("contacts")
    .select("id")
    .where("erased_at", "is", null)
    .where(sql<boolean>`id = any(${[...new Set(ids)]}::text[])`)
    .where("blocked_at", "is", null)
    .$if(isConsentNeeded, (rows) => rows.where("opted_out", "=", false))
    .where(hasAddress(world))
    .orderBy("id")
    .forNoKeyUpdate()
    .execute();
  return new Set(contacts.map(({ id }) => id));
}

export interface InboundText extends ContactReply {
  readonly type: string;
}

/** Messages of contacts, by id. */
export async function readInboundTexts(
  tx: Transaction,
  organization: string,
  ids: readonly string[],
): Promise<ReadonlyMap<string | null, InboundText>> {
  if (ids.length === 0) {
    return new Map();
  }
  const messages = await ofOrganization(tx, organization)
    .selectFrom("messages")
    .select(["id", "type", "content"])
    .where(sql<boolean>`id = any(${ids}::text[])`)
    .execute();
  return new Map(messages.map((message) => [message.id, toInboundText(message)]));
}

function toInboundText({
  id,
  type,
  content: { text, media, reply, summary },
}: Pick<Selectable<Tables["messages"]>, "id" | "type" | "content">): InboundText {
  return {
    message_id: id,
    type,
    text: text?.body ?? media?.caption ?? reply?.title ?? summary ?? null,
    button: reply?.id ?? null,
  };
}

/**
 * The ids of the contacts' latest messages, by conversation. While a conversation is locked, it gets no new
 * message.
 */
export async function readLatestInbound(
  tx: Transaction,
  organization: string,
  conversation_ids: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  if (conversation_ids.length === 0) {
    return new Map();
  }
  const { rows } = await rowsOf({ conversation_id: "text", ...columnsOf("messages", "id") })`
    select conversation_id, latest.id from unnest(${conversation_ids}::text[]) as conversation_id
    cross join lateral (
      select id from messages
      where organization_id = ${organization} and messages.conversation_id = conversation_id.conversation_id
        and direction = 'inbound'
      order by id desc limit 1
    ) as latest
  `.execute(tx);
  return new Map(rows.map(({ conversation_id, id }) => [conversation_id, id]));
}

/**
 * The message that the chatbot is to answer when a flow gives it the conversation: the contact's latest
 * message, unless something has been sent since, the run has waited, or the message is only the flow's
 * keyword. A run that a schedule started leaves no message, because its conversation may have been quiet for
 * long.
 */
export async function findOpenQuestion(
  { tx, organization }: Pick<OrganizationChange, "tx" | "organization">,
  { conversation_id, flow_id, episode, trigger_type }: RunRow,
): Promise<string | null> {
  if (episode > 0 || trigger_type === "schedule") {
    return null;
  }
  const latestMessage = {
    ...columnsOf("messages", "id", "direction"),
    text: nullable("text"),
    keyword: columnOf("flows", "trigger_keyword"),
  };
  const { rows } = await rowsOf(latestMessage)`
    select messages.id, direction, content -> 'text' ->> 'body' as text, flows.trigger_keyword as keyword
    from messages join flows on flows.organization_id = messages.organization_id and flows.id = ${flow_id}
    where messages.organization_id = ${organization} and conversation_id = ${conversation_id}
    order by messages.id desc limit 1
  `.execute(tx);
  const [latest] = rows;
  if (latest?.direction !== "inbound") {
    return null;
  }
  const isCommand =
    trigger_type === "keyword" && splitKeywords(latest.keyword ?? "").includes(normalize(latest.text ?? ""));
  return isCommand ? null : latest.id;
}

/** The data from which the texts of a run are filled in and its conditions evaluated. */
export interface RunSources {
  readonly contact: ContactRow;
  readonly conversation: ConversationRow;
  readonly message: InboundText | undefined;
  readonly variables: RunRow["variables"];
}

/** The facts with which conditions are evaluated. */
export function readRunFacts({ contact, conversation, message, variables }: RunSources) {
  const facts = factsOf(conversation, { contact, message });
  return {
    get: (attribute: string) => readVariable(variables, attribute) ?? readFact(facts, attribute),
  };
}

/** The value of a placeholder. */
export function createReader({ contact, message, variables }: RunSources): (name: string) => unknown {
  const { name, phone_number, username, metadata } = contact;
  const country = countryOf(phone_number);
  const values = { contact: { name, phone_number, username, country, metadata }, message };
  return (path) => {
    const [, attribute] = /^contact\.metadata\.(.+)$/s.exec(path) ?? [];
    // The name of an attribute may contain dots.
    return attribute === undefined
      ? (readVariable(variables, path) ?? readFact(values, path))
      : readFact(metadata, attribute);
  };
}

/**
 * The value of a path such as vars.order.body.items.0.name, in which a number is a place in a list. Undefined
 * for other paths.
 */
function readVariable(variables: RunRow["variables"], path: string): unknown {
  const [scope, ...names] = path.split(".");
  return scope === "vars" ? names.reduce<unknown>(readMember, variables) : undefined;
}

function readMember(value: unknown, name: string): unknown {
  if (Array.isArray(value)) {
    return /^\d+$/.test(name) ? value[Number(name)] : undefined;
  }
  const isObject = typeof value === "object" && value !== null;
  // Reads only own properties, and none that every object inherits.
  return isObject && Object.hasOwn(value, name) ? (value as Record<string, unknown>)[name] : undefined;
}

/** The flow of a run with the version that the run keeps. */
export type RunVersion = Awaited<ReturnType<typeof selectVersions>>[number];

/** Returns the function that returns the version of a run; undefined once the flow has been deleted. */
export async function readRunVersions(
  tx: Transaction,
  organization: string,
  runs: readonly RunRow[],
): Promise<(run: RunRow) => RunVersion | undefined> {
  const versions = runs.length === 0 ? [] : await selectVersions(tx, organization, runs);
  return (run) => versions.find(({ flow_id, version }) => flow_id === run.flow_id && version === run.version);
}

/** Also selects a version of which one flow has a run, for another flow of the runs. */
function selectVersions(tx: Transaction, organization: string, runs: readonly RunRow[]) {
  const flowIds = [...new Set(runs.map(({ flow_id }) => flow_id))];
  const versions = [...new Set(runs.map(({ version }) => version))];
  return ofOrganization(tx, organization)
    .selectFrom("flow_versions")
    .innerJoin("flows", (join) => join.on(refersTo("flow_versions.flow_id", "flows")))
    .selectAll("flow_versions")
    .select(["flows.name", "flows.scopes", "flows.creator_id"])
    .select(creatorRole.as("creator_role"))
    .where(sql<boolean>`flow_versions.flow_id = any(${flowIds}::text[])`)
    .where(sql<boolean>`flow_versions.version = any(${versions}::int[])`)
    .execute();
}
