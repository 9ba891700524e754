/** A message as the contract shows it. */
import type { MessageRow } from "./progress.ts";

/** A message that is being handed to the channel is still queued to its sender. */
export function serializeMessage<Row extends Omit<MessageRow, "transaction_id">>(row: Row) {
  const { text = null, media = null, interactive = null, template = null, reply = null } = row.content;
  const status = row.status === "sending" ? ("queued" as const) : row.status;
  return { ...row, text, media, interactive, template, reply, status };
}
