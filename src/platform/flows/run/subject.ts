/** Locks and reads whom a run is about: the contact, the conversation, and the message that it got last. */
import type { Transaction } from "../../../database/database.ts";
import { refersTo } from "../../../database/query/index.ts";
import { together } from "../../../database/transaction.ts";
import { type ContactRow, selectContacts } from "../../contacts/index.ts";
import { type ConversationRow, findConversation } from "../../conversations/index.ts";
import { countryOf, readFact } from "../../query/index.ts";
import { factsOf } from "../../routing/index.ts";
import type { Reply } from "../graph/index.ts";
import type { RunKey, RunRow } from "./rows.ts";

/**
 * Locks the contact and then the conversation until the commit, as an inbound message and an erasure do. Each is undefined if
 * the contact was erased.
 */
export async function lockSubject(
  tx: Transaction,
  { organization_id, contact_id, conversation_id }: Omit<RunKey, "run_id">,
): Promise<{ readonly contact: ContactRow | undefined; readonly conversation: ConversationRow | undefined }> {
  const [contact, conversation] = await together(
    selectContacts(tx, organization_id)
      .selectAll()
      .where("id", "=", contact_id)
      .forNoKeyUpdate()
      .executeTakeFirst(),
    findConversation(tx, organization_id, conversation_id, { locks: true }),
  );
  return { contact, conversation };
}

/** Whom flows act on. */
export interface Subject {
  /** Both are locked until the commit. */
  readonly contact: ContactRow;
  readonly conversation: ConversationRow;
}

/** The same, by the conversation alone; undefined if there is none, or its contact was erased. */
export async function lockConversationSubject(
  tx: Transaction,
  organization_id: string,
  conversation_id: string,
): Promise<Subject | undefined> {
  const found = await findConversation(tx, organization_id, conversation_id);
  if (!found) {
    return undefined;
  }
  const { contact_id } = found;
  const { contact, conversation } = await lockSubject(tx, { organization_id, contact_id, conversation_id });
  return contact && conversation ? { contact, conversation } : undefined;
}

export interface InboundText extends Reply {
  readonly type: string;
}

/** A message of the contact. */
export async function readInbound(
  tx: Transaction,
  organization: string,
  id: string | null,
): Promise<InboundText | undefined> {
  const message =
    id === null
      ? undefined
      : await tx
          .selectFrom("messages")
          .select(["id", "type", "content"])
          .where("organization_id", "=", organization)
          .where("id", "=", id)
          .executeTakeFirst();
  if (!message) {
    return undefined;
  }
  const { text, media, reply } = message.content;
  return {
    message_id: message.id,
    type: message.type,
    text: text?.body ?? media?.caption ?? reply?.title ?? null,
    button: reply?.id ?? null,
  };
}

/** The id of the contact's latest message. The locked conversation gets none until the commit. */
export async function latestInbound(
  tx: Transaction,
  { organization_id, id }: ConversationRow,
): Promise<string | null> {
  const message = await tx
    .selectFrom("messages")
    .select("id")
    .where("organization_id", "=", organization_id)
    .where("conversation_id", "=", id)
    .where("direction", "=", "inbound")
    .orderBy("id", "desc")
    .limit(1)
    .executeTakeFirst();
  return message?.id ?? null;
}

interface Sources {
  readonly contact: ContactRow;
  readonly conversation: ConversationRow;
  readonly message: InboundText | undefined;
  readonly variables: RunRow["variables"];
}

/** What conditions are evaluated with. */
export function readFacts({ contact, conversation, message, variables }: Sources) {
  return { ...factsOf(conversation, { contact, message }), vars: variables };
}

/** The value of a placeholder. */
export function createReader({ contact, message, variables }: Sources): (name: string) => unknown {
  const { name, phone_number, username, metadata } = contact;
  const country = countryOf(phone_number);
  const values = { contact: { name, phone_number, username, country, metadata }, message, vars: variables };
  return (path) => {
    const [, attribute] = /^contact\.metadata\.(.+)$/s.exec(path) ?? [];
    // The name of an attribute may contain dots.
    return attribute === undefined ? readFact(values, path) : readFact(metadata, attribute);
  };
}

/** The flow of a run with its version; the version is undefined once the flow has been deleted. */
export async function readRunVersion(tx: Transaction, { organization_id, flow_id, version }: RunRow) {
  return tx
    .selectFrom("flow_versions")
    .innerJoin("flows", (join) => join.on(refersTo("flow_versions.flow_id", "flows")))
    .selectAll("flow_versions")
    .select("flows.name")
    .where("flow_versions.organization_id", "=", organization_id)
    .where("flow_versions.flow_id", "=", flow_id)
    .where("flow_versions.version", "=", version)
    .executeTakeFirst();
}
