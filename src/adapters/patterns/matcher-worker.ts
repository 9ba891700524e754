/** The worker thread that compiles expressions and matches texts, one task after the other. */
import { parentPort } from "node:worker_threads";
import type { PatternInspection, PatternVerdict } from "../../ports/patterns.ts";
import { findProgram } from "./programs.ts";

export type PatternTask =
  | { readonly type: "inspect"; readonly pattern: string }
  | { readonly type: "match"; readonly pattern: string; readonly text: string };

function inspect(pattern: string): PatternInspection {
  const program = findProgram(pattern);
  return program ? { outcome: "valid", size: program.programSize() } : { outcome: "invalid" };
}

function match(pattern: string, text: string): PatternVerdict {
  return findProgram(pattern)?.test(text) ? "matched" : "unmatched";
}

parentPort?.on("message", (task: PatternTask) => {
  parentPort?.postMessage(task.type === "inspect" ? inspect(task.pattern) : match(task.pattern, task.text));
});
// The time limit of the first task begins when the thread is ready.
parentPort?.postMessage("ready");
