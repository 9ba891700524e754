/**
 * A contact's own choice about marketing: a stop word, a button of the channel's app, or what
 * the channel reports.
 */
import type { Selectable } from "kysely";
import { ofOrganization } from "../../../database/query/index.ts";
import type { Tables } from "../../../database/schema/index.ts";
import type { Change } from "../../foundation/kernel/index.ts";
import { normalizedAtAfterChange } from "./conditions/index.ts";
import { emitUpdated, isUpdateListenedTo } from "./emit.ts";

type Contact = Selectable<Tables["contacts"]>;

interface Choice {
  readonly opted_out: boolean;
  /** Reports come late and twice, so one of an earlier time than the latest choice does not count. */
  readonly at: string;
}

/**
 * Opts a contact out of marketing or in again. Of two choices of the same second, the one to opt out counts.
 * @returns the contact as it was, locked until the commit; undefined if nothing changed.
 */
export async function changeConsent(
  { tx, now, actor }: Pick<Change, "tx" | "now" | "actor">,
  { organization_id, id }: Pick<Contact, "organization_id" | "id">,
  { opted_out, at }: Choice,
): Promise<Pick<Contact, "blocked_at"> | undefined> {
  const current = await ofOrganization(tx, organization_id)
    .selectFrom("contacts")
    .select(["opted_out", "blocked_at", "consent_at"])
    .where("id", "=", id)
    .where("erased_at", "is", null)
    .forNoKeyUpdate()
    .executeTakeFirst();
  if (!current) {
    return undefined;
  }
  // A channel may report whole seconds.
  const seconds = (time: string) => Math.floor(Date.parse(time) / 1_000);
  const age = current.consent_at === null ? 1 : seconds(at) - seconds(current.consent_at);
  if (opted_out ? age < 0 : age <= 0) {
    return undefined;
  }
  const changed = await ofOrganization(tx, organization_id)
    .updateTable("contacts")
    .set({
      opted_out,
      consent_at: at,
      normalized_at: normalizedAtAfterChange(now),
      updated_at: now.toISOString(),
    })
    .where("id", "=", id)
    .returning(["organization_id", "id", "opted_out", "blocked_at"])
    .returning(isUpdateListenedTo.as("is_listened_to"))
    .executeTakeFirstOrThrow();
  if (current.opted_out === opted_out) {
    return undefined;
  }
  if (changed.is_listened_to) {
    emitUpdated({ tx, actor }, changed, ["opted_out"]);
  }
  return current;
}
