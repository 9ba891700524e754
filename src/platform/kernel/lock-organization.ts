/** One at a time: changes whose rule spans several rows of an organization. */
import type { Transaction } from "../../database/database.ts";

/**
 * Waits until nobody else in the organization is in such a change, and keeps the others out until the commit.
 * What merely refers to the organization (every insert does) is not kept out.
 */
export async function takeTurn(tx: Transaction, organization: string): Promise<void> {
  await tx.selectFrom("organizations").select("id").where("id", "=", organization).forNoKeyUpdate().execute();
}
