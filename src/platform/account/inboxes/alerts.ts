/** What the provider of an inbox's channel says that a person has to know. */
import { ofOrganization } from "../../../database/query/index.ts";
import type { InboxAlert } from "../../../database/schema/index.ts";
import type { World } from "../../foundation/kernel/index.ts";
import { type InboxName, lockInbox } from "./accounts.ts";

/** A provider repeats a report for so long; the same one within that time is a repetition. */
const repeatedMs = 24 * 3_600_000;

/** Stores the latest alert of an inbox, and reports it by an event, once. */
export async function recordAlert(
  world: World,
  { organization_id, inbox_id }: InboxName,
  { field, ...alert }: Omit<InboxAlert, "reported_at"> & { readonly field: string },
): Promise<void> {
  await world.database.transaction(async (tx) => {
    const inbox = await lockInbox(tx, { organization_id, inbox_id });
    const now = world.now();
    const before = inbox?.alert;
    const isRepeated =
      before?.type === alert.type &&
      before.title === alert.title &&
      now.getTime() - Date.parse(before.reported_at) < repeatedMs;
    if (!inbox || isRepeated) {
      return;
    }
    const data = { ...alert, reported_at: now.toISOString() };
    await ofOrganization(tx, organization_id)
      .updateTable("inboxes")
      .set({ alert: JSON.stringify(data) })
      .where("id", "=", inbox_id)
      .execute();
    tx.emit({ type: "inbox.alert", organization_id, order: inbox_id, data: { inbox_id, ...data } });
    const { type } = alert;
    tx.afterCommit(() =>
      world.log.warn(
        { organization_id, inbox_id, field, type },
        "The provider reports a problem of an account",
      ),
    );
  });
}
