/** Serializes changes whose rule spans several rows of an organization, such as a limit on their number. */
import type { Transaction } from "../../foundation/kernel/index.ts";

/**
 * Takes the organization's lock until the commit and returns its own limits; waits while another transaction
 * holds the lock. Inserts that only reference the organization do not wait.
 */
export async function lockOrganization(tx: Transaction, organization: string) {
  return tx
    .selectFrom("organizations")
    .select("limits")
    .where("id", "=", organization)
    .forNoKeyUpdate()
    .executeTakeFirstOrThrow();
}

/** Takes the locks of several organizations, in the order of their ids. */
export async function lockOrganizations(tx: Transaction, ids: readonly string[]): Promise<void> {
  await tx
    .selectFrom("organizations")
    .select("id")
    .where((row) => row("id", "=", row.fn.any(row.val([...new Set(ids)]))))
    .orderBy("id")
    .forNoKeyUpdate()
    .execute();
}
