/** Serves the record as CSV, read in batches while it is sent. */
import { z } from "zod";
import { actFilters } from "../../../../tools/activity.ts";
import { parseFields } from "../../../../tools/contract/index.ts";
import { toCsvRow } from "../../automation/broadcasts/index.ts";
import { type ModuleRoute, runForCaller, type World } from "../../foundation/kernel/index.ts";
import { requireKnownOperation } from "./known-operation.ts";
import { type ActFilter, readActs, selectActs } from "./rows.ts";

/** About 300 kB of text. */
const batchSize = 1_000;

const Query = z.strictObject(actFilters.shape);

export const csvRoute: ModuleRoute = {
  methods: ["GET"],
  path: "/v1/activity.csv",
  credential: "any",
  scope: "tokens:read",
  operation: "list_activity",
  isExport: true,
  body: "none",
  about: {
    name: "download_activity",
    tag: "activity",
    title: "Download activity",
    description: "Download the record of acts as CSV, the newest first, with a header row.",
    query: Query,
    response: { status: 200, body: "text/csv" },
  },

  async handle({ query, organization_id: organization }, world) {
    const filter = parseFields(Query, query);
    requireKnownOperation(filter);
    await world.acts.settle();
    return {
      status: 200,
      headers: {
        "content-type": "text/csv; charset=utf-8",
        "content-disposition": 'attachment; filename="activity.csv"',
        "cache-control": "no-store",
        "x-content-type-options": "nosniff",
      },
      body: writeActs(world, organization, filter),
    };
  },
};

const columns = [
  "id",
  "created_at",
  "by_type",
  "by_id",
  "by_name",
  "session_id",
  "operation",
  "tool",
  "arguments",
  "outcome",
  "status",
  "error_code",
  "duration_ms",
  "ids",
] as const;

async function* writeActs(world: World, organization: string, filter: ActFilter): AsyncGenerator<Uint8Array> {
  yield Buffer.from(toCsvRow(columns));
  let after: string | undefined;
  do {
    // The handler of the request has returned: without `runForCaller`, the queries would not wait in the
    // organization's queue.
    const { data, meta } = await runForCaller(organization, () =>
      readActs(selectActs(world.database.queries, organization, filter), { after, per_page: batchSize }),
    );
    yield Buffer.from(data.map(toRow).join(""));
    after = meta.cursor ?? undefined;
  } while (after !== undefined);
}

type ShownAct = Awaited<ReturnType<typeof readActs>>["data"][number];

function toRow({ by, arguments: input, status, duration_ms, ids, ...act }: ShownAct): string {
  const cells = {
    ...act,
    by_type: by.type,
    by_id: by.id,
    by_name: by.name,
    arguments: input === null ? null : JSON.stringify(input),
    status: String(status),
    duration_ms: String(duration_ms),
    ids: ids.join(" "),
  };
  return toCsvRow(columns.map((column) => cells[column]));
}
