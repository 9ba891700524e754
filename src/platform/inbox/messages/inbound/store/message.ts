/** A message to store, and one that was stored. */
import type { Selectable } from "kysely";
import type { Tables } from "../../../../../database/schema/index.ts";
import type { AccountMessage, ChannelCallbacks } from "../../../../../ports/channel/channel.ts";
import type { ReceivedFile } from "../../../../content/uploads/index.ts";
import type { Actor } from "../../../../foundation/kernel/index.ts";
import type { ContactRow } from "../../../contacts/index.ts";
import type { ConversationRow } from "../../../conversations/index.ts";

export type InboxRow = Selectable<Tables["inboxes"]>;

export interface MessageToStore {
  readonly organization_id: string;
  readonly inbox_id: string;
  readonly message: Omit<AccountMessage, "account_id">;
  /** The message's file, which is in the store and becomes an upload. */
  readonly file: ReceivedFile | null;
  /** The message's own job if no worker runs it. The transaction deletes it. */
  readonly job_id?: string;
}

/** The ids of a stored message and its conversation. */
export type MessageNames = Awaited<ReturnType<ChannelCallbacks["onMessage"]>>;

/** A message that was stored now. */
export interface StoredMessage {
  readonly stored: MessageToStore;
  readonly names: MessageNames;
  readonly inbox: InboxRow;
  readonly contact: ContactRow;
  readonly conversation: ConversationRow;
}

/** Who sends with the app on the phone. */
export function phoneOf({ id, name }: Pick<StoredMessage["inbox"], "id" | "name">): Actor {
  return { type: "phone", id, name, scopes: new Set() };
}
