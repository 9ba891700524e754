/** The file of results: a line of JSON for each mutation that was run. */
import { appendFileSync, mkdirSync, readFileSync, truncateSync } from "node:fs";
import { dirname } from "node:path";
import { z } from "zod";

const resultSchema = z.object({
  id: z.string(),
  outcome: z.enum(["killed", "survived", "timed out"]),
  /** The test that failed first, or what else ended the run. */
  by: z.string().nullable(),
  seconds: z.number(),
});

export type Result = z.infer<typeof resultSchema>;
export type MutationOutcome = Result["outcome"];

/**
 * Keyed by id. If a mutation has several lines, the last one counts.
 * @throws Error that names a line that is no result.
 */
export function readResults(path: string): Map<string, Result> {
  const text = readIfPresent(path);
  const complete = text.slice(0, text.lastIndexOf("\n") + 1);
  if (complete !== text) {
    // The process died while it wrote the last line, so the mutation is run again.
    truncateSync(path, Buffer.byteLength(complete));
  }
  const lines = complete.split("\n").slice(0, -1);
  return new Map(
    lines.map((line, index) => {
      const result = parseLine(line, `${path}:${index + 1}`);
      return [result.id, result];
    }),
  );
}

/** In one write, so that an interruption leaves no part of a line. */
export function appendResult(path: string, result: Result & Readonly<Record<string, unknown>>): void {
  mkdirSync(dirname(path), { recursive: true });
  appendFileSync(path, `${JSON.stringify(result)}\n`);
}

function parseLine(line: string, place: string): Result {
  try {
    return resultSchema.parse(JSON.parse(line));
  } catch {
    throw new Error(`${place} is not a result: ${line.slice(0, 80)}`);
  }
}

function readIfPresent(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") {
      return "";
    }
    throw error;
  }
}
