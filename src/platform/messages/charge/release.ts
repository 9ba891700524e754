/**
 * Releases what is held for messages of which nothing was reported for 30 days. A later receipt charges them again.
 *
 * Message ids sort by time, and it is stored up to which message each organization's were released: so each message is
 * read once, and no index of held messages slows their delivery.
 */
import { sql } from "kysely";
import type { Transaction } from "../../../database/database.ts";
import { lowestId } from "../../../database/id.ts";
import type { MessageCharge } from "../../../database/schema/index.ts";
import { defineScheduledJob, type World } from "../../kernel/index.ts";
import { holdingOrganizations, recordTransfers } from "../../wallet/index.ts";
import { toTransfers } from "./apply.ts";
import { advanceCharge } from "./charge.ts";

const heldForMs = 30 * 24 * 3_600_000;
const batchSize = 500;

export const releaseChargesJob = defineScheduledJob({
  name: "charge.release",
  schedule: "41 * * * *",

  async run(world) {
    const before = lowestId("msg", new Date(world.now().getTime() - heldForMs));
    for (const organization of await holdingOrganizations(world.database.queries)) {
      let isDone = false;
      while (!isDone) {
        isDone = await world.database.transaction((tx) => releaseBatch(tx, world, { organization, before }));
      }
    }
  },
});

interface OldMessage {
  readonly organization_id: string;
  readonly id: string;
  readonly charge: MessageCharge | null;
}

/** Returns whether it was the last batch. */
async function releaseBatch(
  tx: Transaction,
  world: World,
  { organization, before }: { readonly organization: string; readonly before: string },
): Promise<boolean> {
  const { rows } = await sql<OldMessage>`
    select organization_id, id, charge from messages
    where organization_id = ${organization} and id < ${before} and id > coalesce((
      select through_message_id from released_charges where organization_id = ${organization}
    ), '')
    order by id limit ${batchSize} for update
  `.execute(tx);
  const released = rows.flatMap(({ charge, ...message }) => {
    return charge?.status === "held" ? [{ ...message, ...advanceCharge(charge, { step: "release" }) }] : [];
  });
  const transfers = released.flatMap(({ movements, ...message }) =>
    toTransfers(message, "expired", movements),
  );
  await sql`
    update messages set charge = released.charge
    from jsonb_to_recordset(${JSON.stringify(released)}::jsonb) as released (id text, charge jsonb)
    where organization_id = ${organization} and messages.id = released.id
  `.execute(tx);
  await recordTransfers(tx, transfers, world.now());
  const last = rows.at(-1)?.id;
  if (last !== undefined) {
    const row = { organization_id: organization, through_message_id: last };
    await tx
      .insertInto("released_charges")
      .values(row)
      .onConflict((conflict) => conflict.column("organization_id").doUpdateSet(row))
      .execute();
  }
  return rows.length < batchSize;
}
