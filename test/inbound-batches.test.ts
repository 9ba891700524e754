/** Inbound messages that arrive together and share a transaction. */
import { sql } from "kysely";
import { beforeAll, expect, test } from "vitest";
import type { World } from "../src/platform/foundation/kernel/index.ts";
import { receiveMessage } from "../src/platform/inbox/messages/index.ts";
import { modules } from "../src/platform/index.ts";
import { silentLog, useTestApp } from "./support/app.ts";
import { createWalletHelpers, setPrices } from "./support/wallet.ts";
import { createWorldProbe } from "./support/world.ts";

const { probe, readWorld } = createWorldProbe();
const logged: object[] = [];
const log = { ...silentLog, debug: (fields: object) => void logged.push(fields) };
const app = useTestApp({ enabledModules: { ...modules, probe }, log });
const { organization } = createWalletHelpers(app);
let world: World;
let organization_id: string;

beforeAll(async () => {
  world = await readWorld(app);
  organization_id = await organization();
  await setPrices(app);
});

let last = 5_550_700;

/** Receives a message of a new contact for each text, at once. */
function receiveTogether(...texts: readonly string[]) {
  return Promise.allSettled(
    texts.map((body) => {
      last += 1;
      return receiveMessage(world, {
        organization_id,
        channel: "simulator",
        channel_message_id: `in.${last}`,
        from: { phone: `+1415${last}` },
        to: null,
        name: null,
        occurred_at: app.now().toISOString(),
        content: { type: "text", text: { body } },
      });
    }),
  );
}

test("the wallet is changed after every conversation, as in sending, so that the two never deadlock", async () => {
  const { queries } = app.server.database;
  await sql`create table steps (id serial, step text, transaction text default pg_current_xact_id()::text)`.execute(
    queries,
  );
  await sql`
    create function record_step() returns trigger language plpgsql as $$
    begin
      insert into steps (step) values (tg_table_name);
      return null;
    end $$`.execute(queries);
  for (const table of ["conversations", "ledger_entries"]) {
    const trigger = sql`create trigger record_step after insert on ${sql.table(table)} execute function record_step()`;
    await trigger.execute(queries);
  }
  await receiveTogether("Hello", "STOP", "Hi", "stop", "Good morning");
  const { rows } = await sql<{ step: string; transaction: string }>`
    select step, transaction from steps order by id`.execute(queries);
  expect(new Set(rows.map(({ transaction }) => transaction)).size).toBe(1);
  expect(rows.map(({ step }) => step)).toEqual([
    ...Array.from({ length: 5 }, () => "conversations"),
    "ledger_entries",
    "ledger_entries",
  ]);
});

test("one that can't be stored fails alone, and the log says why", async () => {
  const { queries } = app.server.database;
  await sql`alter table messages add constraint fault check (content #>> '{text,body}' <> 'fault')`.execute(
    queries,
  );
  logged.length = 0;
  const results = await receiveTogether("Hello", "fault", "Hi");
  await sql`alter table messages drop constraint fault`.execute(queries);
  expect(results.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
  const err = expect.objectContaining({ code: "23514" });
  expect(logged).toContainEqual({ organization_id, err });
});
