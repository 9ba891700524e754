/** Whether the payments of the processor in use may be credited to an organization. */
import { sql } from "kysely";
import { fail } from "../../../tools/errors.ts";
import type { Queries } from "../../database/database.ts";
import type { World } from "../kernel/index.ts";

/** Simulated money can't pay for the messages of a real channel. */
export async function canBeCredited(
  db: Queries,
  { payments }: Pick<World, "payments">,
  organization: string,
): Promise<boolean> {
  if (!payments.isSimulated) {
    return true;
  }
  const real = await db
    .selectFrom("inboxes")
    .select("id")
    .where("organization_id", "=", organization)
    .where(sql<string>`channel`, "<>", "simulator")
    .limit(1)
    .executeTakeFirst();
  return real === undefined;
}

/** @throws Failure `simulated_payments`. */
export async function requireFundable(
  db: Queries,
  world: Pick<World, "payments">,
  organization: string,
): Promise<void> {
  if (!(await canBeCredited(db, world, organization))) {
    throw fail("simulated_payments");
  }
}
