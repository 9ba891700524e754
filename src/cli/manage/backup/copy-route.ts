/**
 * The route by which `tidings backup` gets a copy of the embedded database, made between two statements.
 *
 * A transaction holds the only connection while the files are copied, so no statement runs meanwhile. The
 * checkpoint before it keeps the start on the copy short. Requests wait for the connection for 5 seconds at
 * most, and are then answered with 503.
 */
import { createHash, randomUUID, timingSafeEqual } from "node:crypto";
import { cp, mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { sql } from "kysely";
import { fail } from "../../../../tools/errors.ts";
import type { Database } from "../../../database/database.ts";
import { withoutStatementLimit } from "../../../database/outage/index.ts";
import type { HttpRoute } from "../../../ports/transport/http-route.ts";

export const copyPath = "/data-folder/copy";

/** What the names of copies begin with. */
export const copyPrefix = "backup-copy-";

interface CopyOptions {
  readonly database: Database;
  readonly dataDir: string;
  /** The key of the data folder. Without it there is no route. */
  readonly localKey: string | undefined;
}

/** There is none on PostgreSQL. With any other key than that of the data folder the route does not exist. */
export function createCopyRoutes({ database, dataDir, localKey }: CopyOptions): readonly HttpRoute[] {
  if (localKey === undefined || database.engine !== "embedded") {
    return [];
  }
  const route: HttpRoute = {
    methods: ["POST"],
    path: copyPath,
    credential: "none",
    body: "none",
    async handle({ headers }) {
      if (!timingSafeEqual(digest(headers["x-api-key"] ?? ""), digest(localKey))) {
        throw fail("route_not_found", { method: "POST", path: copyPath });
      }
      const folder = join(dataDir, copyPrefix + randomUUID());
      await copyDatabase(database, join(dataDir, "database"), folder);
      return { status: 200, headers: { "cache-control": "no-store" }, body: { data: { folder } } };
    },
  };
  return [route];
}

async function copyDatabase(database: Database, from: string, folder: string): Promise<void> {
  await mkdir(folder, { mode: 0o700 });
  try {
    await withoutStatementLimit(() =>
      database.transaction(async (tx) => {
        await sql`checkpoint`.execute(tx);
        await cp(from, join(folder, "database"), { recursive: true });
      }),
    );
  } catch (error) {
    await rm(folder, { recursive: true, force: true });
    throw error;
  }
}

function digest(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}
