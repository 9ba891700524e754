/** Serves all recipients of a broadcast as CSV, read in batches while it is sent. */
import { z } from "zod";
import { type RecipientStatus, recipientStatuses } from "../../../../../tools/broadcasts/index.ts";
import { parseFields } from "../../../../../tools/contract/index.ts";
import { type ModuleRoute, runForCaller, type World } from "../../../foundation/kernel/index.ts";
import { type BroadcastRow, getBroadcast } from "../find.ts";
import { toCsvRow } from "./csv.ts";
import { selectProgress, selectRecipients } from "./recipients.ts";

/** About 200 kB of text. */
const batchSize = 1_000;

const Query = z.strictObject({
  status: z.enum(recipientStatuses, `Send one of ${recipientStatuses.join(", ")}.`).optional(),
});

export const recipientsRoute: ModuleRoute = {
  methods: ["GET"],
  path: "/v1/broadcasts/{id}/recipients.csv",
  credential: "any",
  scope: { all: ["broadcasts:read", "contacts:read"] },
  operation: "list_broadcast_recipients",
  isExport: true,
  body: "none",
  about: {
    name: "download_broadcast_recipients",
    tag: "broadcasts",
    title: "Download broadcast recipients",
    description: "Download all recipients of a broadcast as CSV, with a header row.",
    query: Query,
    response: { status: 200, body: "text/csv" },
  },

  async handle({ params: { id = "" }, query, organization_id: organization }, world) {
    const filter = parseFields(Query, query);
    const broadcast = await getBroadcast(world.database.queries, organization, id);
    return {
      status: 200,
      headers: {
        "content-type": "text/csv; charset=utf-8",
        "content-disposition": `attachment; filename="${broadcast.id}-recipients.csv"`,
        "cache-control": "no-store",
        "x-content-type-options": "nosniff",
      },
      body: writeRecipients(world, broadcast, filter.status),
    };
  },
};

const columns = [
  "contact_id",
  "to",
  "name",
  "status",
  "reason",
  "error_code",
  "error_title",
  "message_id",
  "conversation_id",
  "sent_at",
  "delivered_at",
  "read_at",
  "failed_at",
] as const;

async function* writeRecipients(
  world: World,
  broadcast: BroadcastRow,
  status: RecipientStatus | undefined,
): AsyncGenerator<Uint8Array> {
  yield Buffer.from(toCsvRow(columns));
  let after = "";
  for (;;) {
    // The handler of the request has returned: without `runForCaller`, the queries would not wait in the
    // organization's queue.
    const rows = await runForCaller(broadcast.organization_id, () => readBatch(world, broadcast, after));
    const last = rows.at(-1);
    if (last === undefined) {
      return;
    }
    // Filtered here, so that each batch reads the same number of messages, whatever their status.
    const text = rows.flatMap((row) => (row.status === (status ?? row.status) ? toRow(row) : [])).join("");
    if (text !== "") {
      yield Buffer.from(text);
    }
    after = last.contact_id;
  }
}

function readBatch({ database }: World, broadcast: BroadcastRow, after: string) {
  const db = database.queries;
  const recipients = selectRecipients(db, broadcast).where("contact_id", ">", after).limit(batchSize);
  return selectProgress(db, recipients).execute();
}

type Row = Awaited<ReturnType<typeof readBatch>>[number];

function toRow({ error, contact_name: name, ...row }: Row): string {
  const cells = { ...row, name, error_code: error?.code ?? null, error_title: error?.title ?? null };
  return toCsvRow(columns.map((column) => cells[column]));
}
