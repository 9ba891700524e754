/**
 * Releases what is held for messages about which the channel reported nothing for 30 days. A later
 * receipt charges them again.
 *
 * Message ids sort by time, and each organization stores the id of the last message that was looked at: so
 * each message is read once, and no index of held messages slows their delivery.
 *
 * A process of a version without charges, which runs beside this one during an upgrade, delivers messages and
 * leaves what they hold. They are charged here.
 */
import { sql } from "kysely";
import { lowestId } from "../../../../database/id.ts";
import {
  columnsOf,
  matchesKey,
  nullable,
  onlyRow,
  type RowOf,
  recordset,
  rowsOf,
  typed,
} from "../../../../database/query/index.ts";
import type { MessageCharge } from "../../../../database/schema/index.ts";
import { defineScheduledJob, type Transaction, type World } from "../../../foundation/kernel/index.ts";
import { holdingOrganizations, recordTransfers } from "../../../money/wallet/index.ts";
import { stepOf, toTransfers } from "./apply.ts";
import { advanceCharge } from "./charge.ts";

const heldForMs = 30 * 24 * 3_600_000;
const batchSize = 2_000;

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

const heldColumns = {
  ...columnsOf("messages", "organization_id", "id", "status"),
  charge: typed<MessageCharge>("jsonb"),
};

type HeldMessage = RowOf<typeof heldColumns>;

interface Old {
  readonly organization: string;
  /** The id that the messages sort before. */
  readonly before: string;
}

/** Returns whether it was the last batch. */
async function releaseBatch(tx: Transaction, world: World, old: Old): Promise<boolean> {
  const { organization } = old;
  const last = await findLast(tx, old);
  if (last === undefined) {
    return true;
  }
  const released = (await lockHeld(tx, organization, last)).map(({ charge, status, ...message }) => {
    return { ...message, ...advanceCharge(charge, { step: stepOf(status) ?? "release" }) };
  });
  const transfers = released.flatMap(({ movements, ...message }) =>
    toTransfers(message, "expired", movements),
  );
  const ids = released.map(({ id }) => id);
  await sql`
    update messages set charge = released.charge
    from ${recordset("released", columnsOf("messages", "id", "charge"), released)}
    where organization_id = ${organization} and ${matchesKey("messages.id", "released.id", ids)}
  `.execute(tx);
  await recordTransfers(tx, transfers, world.now());
  const row = { organization_id: organization, through_message_id: last };
  await tx
    .insertInto("released_charges")
    .values(row)
    .onConflict((conflict) => conflict.column("organization_id").doUpdateSet(row))
    .execute();
  return false;
}

const releasedThrough = (organization: string) => sql<string>`coalesce((
  select through_message_id from released_charges where organization_id = ${organization}
), '')`;

/** The last message of the next batch; undefined without one. */
async function findLast(tx: Transaction, { organization, before }: Old): Promise<string | undefined> {
  const { rows } = await rowsOf({ last: nullable("text") })`
    select max(id) as last from (
      select id from messages
      where organization_id = ${organization} and id < ${before} and id > ${releasedThrough(organization)}
      order by id limit ${batchSize}
    ) as batch
  `.execute(tx);
  return onlyRow(rows).last ?? undefined;
}

/** Of a batch, only these are locked: nearly all are settled. */
async function lockHeld(
  tx: Transaction,
  organization: string,
  last: string,
): Promise<readonly HeldMessage[]> {
  const { rows } = await rowsOf(heldColumns)`
    select organization_id, id, status, charge from messages
    where organization_id = ${organization} and id > ${releasedThrough(organization)} and id <= ${last}
      and charge ->> 'status' = 'held'
    order by id for update
  `.execute(tx);
  return rows;
}
