/** A message as the contract shows it. */
import type { DeliveryError } from "./failures.ts";
import type { MessageRow } from "./progress.ts";

/** A row as the contract shows it: a message that is on its way out is still queued to its sender. */
export function serializeMessage<Row extends MessageRow>(row: Row) {
  const { text = null, media = null, interactive = null, reply = null } = row.content as Partial<Content>;
  return {
    ...row,
    text,
    media,
    interactive,
    reply,
    status: row.status === "sending" ? ("queued" as const) : row.status,
    // Written from a MessageError by `move`.
    error: row.error as DeliveryError | null,
  };
}

interface Content {
  text: { body: string };
  media: { url: string; caption: string | null; file_name: string | null };
  interactive: Record<string, unknown>;
  reply: { id: string; title: string };
}
