/**
 * A place in the stream of inbound messages, and its text.
 *
 * The stream runs by commits: a cursor names the database's snapshot in which the caller has seen everything,
 * and what that snapshot doesn't hold comes next, however old its id or its time may be. So a message that
 * commits late is neither lost nor given twice. A page that was full adds where it ended.
 */
import { z } from "zod";
import { failField } from "../../../../tools/errors.ts";
import { lowestId } from "../../../database/id.ts";

export interface Cursor {
  /** What it holds was given: PostgreSQL's `xmin:xmax:running`. Null: only the id decides. */
  readonly seen: string | null;
  /** Only newer ids are looked for, so that no more than the latest is read. */
  readonly from: string;
  /** Of a full page: what `until` holds comes first, after the id `last`. */
  readonly rest: { readonly until: string; readonly last: string } | null;
}

/** A message's transaction lasts milliseconds and clocks differ by seconds: later than this none commits. */
const settledMs = 60_000;

/** The place where all that the snapshot holds has been given. */
export function cursorAt(snapshot: string, now: Date): Cursor {
  return { seen: snapshot, from: lowestId("msg", new Date(now.getTime() - settledMs)), rest: null };
}

export function writeCursor({ seen, from, rest }: Cursor): string {
  const parts = [seen && pack(seen), from, rest && pack(rest.until), rest?.last ?? null];
  return Buffer.from(JSON.stringify(parts)).toString("base64url");
}

/** @throws Failure `invalid_cursor`. */
export function readCursor(text: string): Cursor {
  const parsed = Parts.safeParse(parse(text));
  if (!parsed.success) {
    throw noCursor(text);
  }
  const [seen, from, until, last] = parsed.data;
  return { seen, from, rest: until !== null && last !== null ? { until, last } : null };
}

export function noCursor(text: string) {
  return failField("after", "invalid_cursor", { value: text.length > 64 ? `${text.slice(0, 64)}…` : text });
}

function parse(text: string): unknown {
  try {
    return JSON.parse(Buffer.from(text, "base64url").toString());
  } catch {
    return undefined;
  }
}

/** Transactions that run at one moment; of more, the later ones count as not seen: told twice, but not lost. */
const mostRunning = 200;

/** A snapshot in few letters: the running transactions by their distance from the oldest. */
function pack(snapshot: string): string {
  const [oldest = "", next = "", running = ""] = snapshot.split(":");
  const all = running === "" ? [] : running.split(",");
  const end = all[mostRunning] ?? next;
  const distances = [end, ...all.slice(0, mostRunning)].map((id) => Number(id) - Number(oldest));
  return [Number(oldest), ...distances].map((one) => one.toString(36)).join(".");
}

/** @returns undefined for what PostgreSQL would not read. */
function unpack(text: string): string | undefined {
  const [oldest = 0, end = 0, ...running] = text.split(".").map((one) => Number.parseInt(one, 36));
  const ids = running.map((distance) => oldest + distance);
  const isRising = ids.every((id, index) => id < oldest + end && id > (ids[index - 1] ?? oldest - 1));
  const isSafe = oldest > 0 && Number.isSafeInteger(oldest + end) && running.length <= mostRunning;
  return isRising && isSafe ? `${oldest}:${oldest + end}:${ids.join(",")}` : undefined;
}

const Snapshot = z
  .string()
  .regex(/^[0-9a-z]{1,11}(\.[0-9a-z]{1,11})+$/)
  .transform((text) => unpack(text) ?? "")
  .pipe(z.string().min(1));
const Id = z.string().regex(/^msg_[0-9a-z]{26}$/);
const Parts = z.tuple([Snapshot.nullable(), Id, Snapshot.nullable(), Id.nullable()]);
