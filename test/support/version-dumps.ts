/**
 * The databases that landed versions wrote: test/fixtures/versions/NAME.sql, and what it holds in NAME.json.
 */
import { readdirSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { PGlite } from "@electric-sql/pglite";
import { z } from "zod";
import type { TestApp } from "./app.ts";
import { createTestDatabase, type TestDatabase } from "./database.ts";
import { runOnServer } from "./postgres.ts";

export const dumpFolder = "test/fixtures/versions";

/** What `npm run dump-version` records next to a dump. */
export interface DumpRecord {
  /** When the service stopped. */
  readonly stopped_at: string;
  /** An API key with all scopes. */
  readonly key: string;
  /** What the API answered then, by path. */
  readonly answers: Readonly<Record<string, object>>;
  /** A POST with an idempotency key: it sent the queued message. */
  readonly request: {
    readonly path: string;
    readonly idempotency_key: string;
    readonly body: object;
    readonly answer: string;
  };
  /** Its delivery to the channel had not begun. */
  readonly queued_message: RecordedMessage;
  /** The channel had accepted it, and its receipt was due later. */
  readonly sent_message: RecordedMessage;
  readonly snoozed_conversation: { readonly id: string; readonly snoozed_until: string };
  /** Dumps of versions up to 0031 have no inbox of WhatsApp. */
  readonly whatsapp?: {
    readonly inbox_id: string;
    readonly template_id: string;
    /** The customer has read it. The one before it has a file. */
    readonly message: RecordedMessage;
  };
  readonly webhooks: readonly {
    readonly id: string;
    readonly signing_secret: string;
    /** The ids of the events that it had received, and of those that it had not. */
    readonly delivered: readonly string[];
    readonly pending: readonly string[];
  }[];
}

export interface RecordedMessage {
  readonly id: string;
  readonly conversation_id: string;
  readonly to: string;
}

/** The settings of a service with an inbox of WhatsApp: its answers have addresses below the public one. */
export function whatsAppEnv({ url }: { readonly url: string }) {
  return { TIDINGS_WHATSAPP_BASE_URL: url, TIDINGS_PUBLIC_URL: "https://tidings.example" };
}

/** What a GET answers, without the parts of links to received files that are new in each answer. */
export async function readAnswer(app: TestApp, path: string, key?: string): Promise<object> {
  const answer = await app.fetch(path, key === undefined ? {} : { key });
  const text = await answer.text();
  if (!answer.ok) {
    throw new Error(`GET ${path}: ${text}`);
  }
  return JSON.parse(text.replace(/\?expires=\d+&signature=[\w-]+/g, ""));
}

/** The names of all dumps, oldest first. */
export const dumpNames = readdirSync(dumpFolder)
  .filter((file) => file.endsWith(".sql"))
  .map((file) => file.slice(0, -".sql".length))
  .sort();

export async function readDumpRecord(name: string): Promise<DumpRecord> {
  const record: DumpRecord = JSON.parse(await readFile(join(dumpFolder, `${name}.json`), "utf8"));
  return { ...record, answers: inPresentNotation(record.answers) };
}

/**
 * Earlier versions named a place in a list variables.0.example, answered with the acts and their cursor in
 * data, showed what a channel sent of an unsupported message as its original, and had a delay in each
 * message.
 */
function inPresentNotation<Answers>(answers: Answers): Answers {
  const rename = (name: string, value: unknown) => {
    if (name === "delay" && value === null) {
      return undefined;
    }
    return name === "field" && typeof value === "string"
      ? value.replace(/\.(\d+)(?=\.|$)/g, "[$1]")
      : inPresentForm(value);
  };
  return JSON.parse(JSON.stringify(answers), rename);
}

const FormerMessage = z.looseObject({
  unsupported: z.object({ type: z.string(), original: z.record(z.string(), z.unknown()) }),
});

function inPresentForm(value: unknown): unknown {
  const message = FormerMessage.safeParse(value).data;
  if (message) {
    const { type, original } = message.unsupported;
    return { ...message, unsupported: { type }, channel_data: original };
  }
  const { data } = FormerActs.safeParse(value);
  return data ? { data: data.data.acts, meta: { cursor: data.data.cursor } } : value;
}

const FormerActs = z.strictObject({
  data: z.strictObject({ acts: z.array(z.unknown()), cursor: z.string().nullable() }),
});

/** Loads a dump, and then these changes of it, into a new database of the test run's engine. */
export async function loadDump(name: string, changes = ""): Promise<TestDatabase> {
  const dump = await readFile(join(dumpFolder, `${name}.sql`), "utf8");
  // The new database is migrated. An empty embedded one would take four seconds to create.
  const script = `drop schema public cascade; create schema public; ${dump}; ${changes}`;
  const database = await createTestDatabase();
  const { DATABASE_URL: url, TIDINGS_DATA_DIR: dataDir = "" } = database.env;
  if (url !== undefined) {
    await runOnServer(url, script);
    return database;
  }
  const engine = await PGlite.create({ dataDir: join(dataDir, "database") });
  await engine.exec(script);
  await engine.close();
  return database;
}
