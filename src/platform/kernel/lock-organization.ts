/** Serializes changes whose rule spans several rows of an organization, such as a limit on their number. */
import type { Transaction } from "../../database/database.ts";

/**
 * Takes the organization's lock until the commit; waits while another transaction holds it.
 * Inserts that only reference the organization do not wait.
 */
export async function lockOrganization(tx: Transaction, organization: string): Promise<void> {
  await tx.selectFrom("organizations").select("id").where("id", "=", organization).forNoKeyUpdate().execute();
}
