/** The events of changed contacts. They are emitted only where something listens to them. */
import type { RawBuilder } from "kysely";
import { sql } from "kysely";
import type { EventData } from "../../../../tools/events.ts";
import {
  type Change,
  isListenedTo,
  type OrganizationChange,
  recordOf,
} from "../../foundation/kernel/index.ts";

type UpdatedField = EventData<"contact.updated">["fields"][number];

interface ChangedContact {
  readonly id: string;
  readonly organization_id: string;
  readonly opted_out: boolean;
  readonly blocked_at: string | null;
}

/** In a statement that changes contacts: whether something listens to `contact.updated`. */
export const isUpdateListenedTo: RawBuilder<boolean> = isListenedTo(sql`contacts.organization_id`, [
  "contact.updated",
]);

/** @param contact the contact after the change */
export function emitUpdated(
  { tx, actor }: Pick<Change, "tx" | "actor">,
  { id: contact_id, organization_id, opted_out, blocked_at }: ChangedContact,
  fields: readonly UpdatedField[],
): void {
  if (fields.length > 0) {
    const state = { opted_out, blocked: blocked_at !== null };
    const data = { contact_id, fields: [...fields], ...state, actor: recordOf(actor) };
    tx.emit({ type: "contact.updated", organization_id, order: contact_id, data });
  }
}

/** Emits the event of a contact that something listens to, if it got tags that it did not have. */
export function emitAddedTags(
  { tx, actor, organization }: OrganizationChange,
  { id: contact_id, tags: before }: { readonly id: string; readonly tags: readonly string[] },
  tags: readonly string[],
): void {
  const added = tags.filter((tag) => !before.includes(tag));
  if (added.length > 0) {
    const data = { contact_id, tags: added, actor: recordOf(actor) };
    tx.emit({ type: "contact.tag_added", organization_id: organization, order: contact_id, data });
  }
}
