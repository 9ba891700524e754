/** A mutation: one deliberate defect, as the replacement of a range of a file's text. */
import { createHash } from "node:crypto";

export const operators = [
  "condition",
  "boundary",
  "dropped-await",
  "dropped-tenant-condition",
  "wrong-column",
] as const;

export type OperatorName = (typeof operators)[number];

/** The offsets are offsets in JavaScript strings. */
export interface Edit {
  readonly start: number;
  readonly end: number;
  readonly replacement: string;
}

export interface Mutation extends Edit {
  /** Stays the same as long as the mutated text and the name of its function do. */
  readonly id: string;
  readonly operator: OperatorName;
  readonly module: string;
  readonly file: string;
  readonly line: number;
  /** Names the innermost function with a name. At most one mutation per scope is chosen. */
  readonly scope: string;
  readonly description: string;
}

export function applyEdit(text: string, { start, end, replacement }: Edit): string {
  return text.slice(0, start) + replacement + text.slice(end);
}

/** The line of an edit, from 1: the line of the first character that it changes, ignoring spaces. */
export function lineAt(text: string, edit: Edit): number {
  return text.slice(0, anchorOf(text, edit)).split("\n").length;
}

/** The whole line of an edit. */
export function lineOf(text: string, edit: Edit): string {
  const anchor = anchorOf(text, edit);
  const end = text.indexOf("\n", anchor);
  return text.slice(text.lastIndexOf("\n", anchor - 1) + 1, end === -1 ? text.length : end).trim();
}

/** The old and the new text, and the line that contains them. */
export function describeEdit(text: string, edit: Edit): string {
  const old = shorten(text.slice(edit.start, edit.end));
  const change = edit.replacement === "" ? `${old} removed` : `${old} → ${shorten(edit.replacement)}`;
  return `${change}: ${shorten(lineOf(text, edit))}`;
}

/** The lines that differ, in the form of a diff. */
export function diffOf(text: string, edit: Edit): string {
  const first = text.lastIndexOf("\n", edit.start - 1) + 1;
  const last = text.indexOf("\n", edit.end);
  const end = last === -1 ? text.length : last;
  const before = text.slice(first, end);
  const after = applyEdit(text, edit).slice(first, end + edit.replacement.length - (edit.end - edit.start));
  return [...marked("-", before), ...marked("+", after)].join("\n");
}

/** Short and without spaces, so that it can be given to a command. */
export function mutationId(
  operator: OperatorName,
  file: string,
  ...place: readonly (string | number)[]
): string {
  const hash = createHash("sha256").update(JSON.stringify(place)).digest("hex");
  return `${operator}:${file}:${hash.slice(0, 8)}`;
}

function anchorOf(text: string, { start, end }: Edit): number {
  return start + Math.max(0, text.slice(start, end).search(/\S/));
}

function marked(sign: string, lines: string): string[] {
  return lines
    .split("\n")
    .filter((line) => line.trim() !== "")
    .map((line) => `${sign} ${line.trim()}`);
}

function shorten(text: string): string {
  const line = text.trim().replace(/\s+/g, " ");
  return line.length > 100 ? `${line.slice(0, 99)}…` : line;
}
