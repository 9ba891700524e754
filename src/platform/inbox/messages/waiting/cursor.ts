/**
 * A position in the stream of inbound messages, and its text form.
 *
 * The stream is in commit order. A cursor names the database snapshot in which the caller has seen every
 * message; messages that are not in that snapshot come next, however old their ids or times are. So a message
 * that commits late is neither lost nor returned twice. After a full page, the cursor also names its end.
 */
import { createHmac } from "node:crypto";
import { z } from "zod";
import { lowestId } from "../../../../database/id.ts";
import { failCursor, openCursorTexts } from "../../../foundation/cursor-texts.ts";
import type { World } from "../../../foundation/kernel/index.ts";
import { type AppSecrets, secretsOf } from "../../../foundation/sealing/index.ts";

export interface Cursor {
  /** The messages of this snapshot (`xmin:xmax:running`) were returned. Null: only the id decides. */
  readonly seen: string | null;
  /** Only messages with a newer id are read, so that a query does not scan older ones. */
  readonly from: string;
  /** After a full page: the rest of the snapshot `until` comes next, after the id `last`. */
  readonly page: { readonly until: string; readonly last: string } | null;
}

/** By then every message has committed: transactions last milliseconds, and clocks differ by seconds. */
const settledMs = 60_000;

/** The position after all messages of the snapshot. */
export function cursorAt(snapshot: string, now: Date): Cursor {
  return { seen: snapshot, from: lowestId("msg", new Date(now.getTime() - settledMs)), page: null };
}

export interface MessageCursors {
  write(cursor: Cursor): string;
  /** @throws Failure `invalid_cursor`. */
  read(text: string): Cursor;
}

/** The texts of cursors, as callers get and send them. */
export async function openMessageCursors(world: World): Promise<MessageCursors> {
  const advice = "Leave it out: list_messages has the messages of a conversation from before";
  const texts = await openCursorTexts(world, advice);
  return {
    write: (cursor) => texts.write(writeCursor(world, cursor)),
    read: (text) => readCursor(world, texts.read(text), world.now()),
  };
}

/** Signed: with a snapshot of one's own making and an early id, a query would read the whole table. */
export function writeCursor(secrets: AppSecrets, { seen, from, page }: Cursor): string {
  const parts = [seen && pack(seen), from, page && pack(page.until), page?.last ?? null];
  const [signature] = signaturesOf(secrets, parts);
  return Buffer.from(JSON.stringify([...parts, signature])).toString("base64url");
}

/** @throws Failure `invalid_cursor`. */
export function readCursor(secrets: AppSecrets, text: string, now: Date): Cursor {
  const packed = parse(text);
  const parsed = Parts.safeParse(packed);
  if (!parsed.success || !Array.isArray(packed)) {
    throw createCursorError(text);
  }
  const [seen, from, until, last, signature] = parsed.data;
  const isOwn = signature !== undefined && signaturesOf(secrets, packed.slice(0, 4)).includes(signature);
  if (!isOwn && from < lowestId("msg", new Date(now.getTime() - unsignedMs))) {
    throw createCursorError(text);
  }
  return { seen, from, page: until !== null && last !== null ? { until, last } : null };
}

/** Cursors of earlier versions have no signature. A cursor in use is younger than this. */
const unsignedMs = 15 * 60_000;

function signaturesOf(secrets: AppSecrets, parts: readonly unknown[]): string[] {
  const text = JSON.stringify(parts);
  return secretsOf(secrets).map((secret) =>
    createHmac("sha256", secret).update(`cursor\n${text}`).digest("base64url").slice(0, 16),
  );
}

export function createCursorError(text: string) {
  return failCursor(text, "neither a valid cursor nor a message id");
}

function parse(text: string): unknown {
  try {
    return JSON.parse(Buffer.from(text, "base64url").toString());
  } catch {
    return undefined;
  }
}

/** Of more running transactions, the later ones count as not seen: returned twice, but not lost. */
const maxRunning = 200;

/** Shortens a snapshot: writes the other transactions as distances from the oldest, in base 36. */
function pack(snapshot: string): string {
  const [oldest = "", next = "", running = ""] = snapshot.split(":");
  const runningIds = running === "" ? [] : running.split(",");
  const end = runningIds[maxRunning] ?? next;
  const distances = [end, ...runningIds.slice(0, maxRunning)].map((id) => Number(id) - Number(oldest));
  return [Number(oldest), ...distances].map((number) => number.toString(36)).join(".");
}

/** Returns undefined for a text that PostgreSQL would reject. */
function unpack(text: string): string | undefined {
  const [oldest = 0, end = 0, ...running] = text.split(".").map((digits) => Number.parseInt(digits, 36));
  const ids = running.map((distance) => oldest + distance);
  const isRising = ids.every((id, index) => id < oldest + end && id > (ids[index - 1] ?? oldest - 1));
  const isSafe = oldest > 0 && Number.isSafeInteger(oldest + end) && running.length <= maxRunning;
  return isRising && isSafe ? `${oldest}:${oldest + end}:${ids.join(",")}` : undefined;
}

const Snapshot = z
  .string()
  .regex(/^[0-9a-z]{1,11}(\.[0-9a-z]{1,11})+$/)
  .transform((text) => unpack(text) ?? "")
  .pipe(z.string().min(1));
const Id = z.string().regex(/^msg_[0-9a-z]{26}$/);
const Parts = z.tuple([Snapshot.nullable(), Id, Snapshot.nullable(), Id.nullable(), z.string().optional()]);
