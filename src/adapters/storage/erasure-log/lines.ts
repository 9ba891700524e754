/**
 * The lines of a log of erasures: JSON objects, one a line. The first says when the log begins, and each of
 * the others is an erasure.
 *
 * A crash or a full disk may cut a line off. The erasure is then written again, as the same line.
 */
import { z } from "zod";
import type { LoggedErasure } from "../../../ports/files/erasure-log.ts";

const id = z.string().regex(/^\w{1,64}$/);
const at = z.iso.datetime();

const Line = z.discriminatedUnion("kind", [
  z.object({ kind: z.literal("begin"), at }),
  z.object({ kind: z.literal("contact"), organization_id: id, id, at }),
]);

/** What a log says. */
export interface ErasureRecord {
  /** From when on it has every erasure; undefined if no line says it. */
  readonly begun_at: string | undefined;
  readonly erasures: readonly LoggedErasure[];
  /** The numbers of the lines that can't be read, from 1. */
  readonly unreadable: readonly number[];
}

export function beginLine(begunAt: string): string {
  return `${JSON.stringify({ kind: "begin", at: begunAt })}\n`;
}

export function erasureLine({ kind, organization_id, id: record, at: erasedAt }: LoggedErasure): string {
  return `${JSON.stringify({ kind, organization_id, id: record, at: erasedAt })}\n`;
}

export function parseErasures(text: string): ErasureRecord {
  const begins: string[] = [];
  const erasures: LoggedErasure[] = [];
  const unreadable: number[] = [];
  const lines = text.split("\n").map((line) => line.trim());
  for (const [index, line] of lines.entries()) {
    const parsed = line === "" ? undefined : readLine(line);
    if (parsed === undefined) {
      // An empty line ends one that was cut off.
      if (line !== "" && !isWrittenAgain(lines, index)) {
        unreadable.push(index + 1);
      }
    } else if (parsed.kind === "begin") {
      begins.push(parsed.at);
    } else {
      erasures.push(parsed);
    }
  }
  return { begun_at: begins.sort()[0], erasures, unreadable };
}

function readLine(line: string): z.output<typeof Line> | undefined {
  try {
    return Line.safeParse(JSON.parse(line)).data;
  } catch {
    return undefined;
  }
}

function isWrittenAgain(lines: readonly string[], index: number): boolean {
  const cut = lines[index] ?? "";
  return lines.slice(index + 1).some((line) => line.startsWith(cut) && readLine(line) !== undefined);
}
