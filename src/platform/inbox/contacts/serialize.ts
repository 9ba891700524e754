/** A contact as the contract shows it. */
export function serializeContact<Row extends { readonly blocked_at: string | null }>(row: Row) {
  return { ...row, blocked: row.blocked_at !== null };
}
