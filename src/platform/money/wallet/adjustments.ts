/** The operator's changes of a wallet: adjustments, with a reason, and the credit limit. */
import { fromMicros, toMicros } from "../../../../tools/money.ts";
import type { Queries } from "../../../database/database.ts";
import { newId } from "../../../database/id.ts";
import { ofOrganization, readPage } from "../../../database/query/index.ts";
import type { Transaction, World } from "../../foundation/kernel/index.ts";
import { walletCredited } from "./credited.ts";
import { lockWallet } from "./hold.ts";
import { recordTransfers } from "./transfers.ts";

interface NewAdjustment {
  readonly organization: string;
  readonly currency: string;
  /** In the currency's unit; negative to take money out. */
  readonly amount: number;
  readonly reason: string;
  readonly simulated: boolean;
  readonly now: Date;
}

export async function adjustWallet(
  tx: Transaction,
  world: World,
  { organization: organization_id, currency, amount, reason, simulated, now }: NewAdjustment,
) {
  const id = newId("adj", now);
  const micros = toMicros(amount);
  await lockWallet(tx, organization_id);
  const adjustment = await tx
    .insertInto("wallet_adjustments")
    .values({ organization_id, id, amount: micros, reason, simulated, created_at: now.toISOString() })
    .returningAll()
    .executeTakeFirstOrThrow();
  const [from_account, to_account] =
    micros > 0 ? (["adjustments", "wallet"] as const) : (["wallet", "adjustments"] as const);
  const transfer = {
    organization_id,
    reference: id,
    type: "adjustment",
    currency,
    message_id: null,
    simulated,
  } as const;
  await recordTransfers(tx, [{ ...transfer, from_account, to_account, amount: Math.abs(micros) }], now);
  if (micros > 0 && !simulated) {
    await walletCredited.run(world, tx, world, { organization: organization_id, now });
  }
  return serialize(adjustment);
}

export async function listAdjustments(
  db: Queries,
  organization: string,
  paging: { readonly page: number; readonly per_page: number },
) {
  const query = ofOrganization(db, organization)
    .selectFrom("wallet_adjustments")
    .selectAll()
    .orderBy("id", "desc");
  const { rows, meta } = await readPage(query, paging);
  return { data: rows.map(serialize), meta };
}

function serialize<Row extends { readonly amount: number }>(row: Row) {
  return { ...row, amount: fromMicros(row.amount) };
}
