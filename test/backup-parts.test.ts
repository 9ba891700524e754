/** The parts in which a backup has the rows of a table: a restore holds one of them in memory. */
import { sql } from "kysely";
import { expect, test } from "vitest";
import { openStorage } from "../src/adapters/storage/index.ts";
import { writeBackup } from "../src/cli/manage/backup/write-backup.ts";
import { openDatabase } from "../src/database/connect.ts";
import { silentLog } from "./support/app.ts";
import { createTestDatabase } from "./support/database.ts";

test("a part has at most 4 MiB and one row, in bytes, also if the rows are large", async () => {
  await using created = await createTestDatabase();
  const { DATABASE_URL: url, TIDINGS_DATA_DIR: dataDir = "" } = created.env;
  await using database = await openDatabase({ url, dataDir, log: silentLog });
  const rowBytes = 400_000;
  await sql`insert into settings (name, value)
    select 'large-' || number, repeat('é', ${rowBytes / 2}::integer) from generate_series(1, 30) as number
  `.execute(database.queries);
  const sizes: number[] = [];
  const archive = {
    async add() {},
    async addText(name: string, text: string) {
      if (/\bsettings\b/.test(name)) {
        sizes.push(Buffer.byteLength(text));
      }
    },
  };
  const storage = openStorage({ dataDir, bucketAccess: undefined, fileBucket: undefined });
  const secrets = { secret: undefined, previousSecret: undefined };
  await writeBackup(archive, { database, storage, secrets, generatedSecret: undefined });
  expect(sizes.length).toBeGreaterThan(1);
  expect(Math.max(...sizes)).toBeLessThan(4 * 1024 * 1024 + 2 * rowBytes);
});
