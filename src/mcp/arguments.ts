/**
 * Reads the arguments of a tool call by the catalogue's rules.
 *
 * It brings the whole catalogue along, which takes a while to load: it is imported when a tool is
 * called, or once a list has been answered.
 */

import {
  type ErrorBody,
  Failure,
  type FailureDetail,
  formsOf,
  missingScope,
  type Operation,
  readArguments,
  type ScopeRule,
  type ToolForm,
} from "../../tools/contract/index.ts";
import { type ErrorCode, fail } from "../../tools/errors.ts";
import { catalogue } from "../../tools/index.ts";
import { type LocalFile, openLocalFile } from "./local-file.ts";
import type { ListedTool } from "./tools.ts";

/** Why a call is not made. */
export interface Refusal {
  readonly status: number;
  readonly code: string;
  readonly message: string;
  readonly error: ErrorBody["error"];
}

export type Reading =
  | {
      readonly operation: Operation;
      readonly input: Record<string, unknown>;
      /** One that the call named, open; whoever called closes it. */
      readonly file?: LocalFile | undefined;
      readonly refusal?: undefined;
    }
  | { readonly refusal: Refusal };

const operations: Readonly<Record<string, Operation>> = catalogue;

/** The operation that a tool calls and its input, or why the arguments are refused. */
export async function readCall(
  tool: ListedTool,
  given: Readonly<Record<string, unknown>>,
  uploadRoot: string | undefined,
): Promise<Reading> {
  const operation = operations[tool.operation];
  const form = operation && formsOf(tool.operation, operation)[tool.name];
  if (!form) {
    return { refusal: refuse("tool_not_found", { value: tool.name }) };
  }
  try {
    const { local } = form;
    return local && uploadRoot !== undefined
      ? {
          operation,
          ...(await readLocal({ ...form, input: local.extend(form.input.shape) }, given, uploadRoot)),
        }
      : { operation, input: readArguments(form, given) };
  } catch (error) {
    if (error instanceof Failure) {
      return { refusal: toRefusal(error) };
    }
    throw error;
  }
}

/** Arguments that may name a file of this machine. @throws Failure */
async function readLocal(form: ToolForm, given: Readonly<Record<string, unknown>>, uploadRoot: string) {
  const { file_path: path, ...input } = readArguments(form, given);
  const others = ["content_base64", "url"].filter((name) => input[name] !== undefined);
  const count = others.length + (path === undefined ? 0 : 1);
  if (count !== 1) {
    throw fail("one_source_needed", { count, known: "file_path, content_base64 and url" });
  }
  return { input, file: path === undefined ? undefined : await openLocalFile(uploadRoot, String(path)) };
}

/** A refusal in the words of the catalogue. */
export function refuse(code: ErrorCode, detail?: FailureDetail): Refusal {
  return toRefusal(fail(code, detail));
}

/** The refusal of a tool that the credential's scopes do not cover. */
export function refuseScope(rule: ScopeRule | null): Refusal {
  return refuse("insufficient_scope", missingScope(rule));
}

function toRefusal(failure: Failure): Refusal {
  const { status, code, message } = failure;
  return { status, code, message, error: failure.body().error };
}
