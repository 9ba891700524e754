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
  missingScope,
  type Operation,
  readArguments,
  type ScopeRule,
  type ToolMapping,
  toolMappingsOf,
} from "../../../tools/contract/index.ts";
import { type ErrorCode, fail } from "../../../tools/errors.ts";
import { catalogue } from "../../../tools/index.ts";
import type { ListedTool } from "../tool-list/index.ts";
import { type LocalFile, openLocalFile } from "./local-file.ts";

/** Why a call is not made. */
export interface RejectedCall {
  readonly status: number;
  readonly code: string;
  readonly message: string;
  readonly error: ErrorBody["error"];
}

export type ParsedCall =
  | {
      readonly operation: Operation;
      readonly input: Record<string, unknown>;
      /** One that the call named, open; whoever called closes it. */
      readonly file?: LocalFile | undefined;
      readonly rejected?: undefined;
    }
  | { readonly rejected: RejectedCall };

const operations: Readonly<Record<string, Operation>> = catalogue;

/** The operation that a tool calls and its input, or why the arguments are refused. */
export async function parseCall(
  tool: ListedTool,
  given: Readonly<Record<string, unknown>>,
  uploadRoot: string | undefined,
): Promise<ParsedCall> {
  const operation = operations[tool.operation];
  const form = operation && toolMappingsOf(tool.operation, operation)[tool.name];
  if (!form) {
    return { rejected: rejectCall("tool_not_found", { value: tool.name }) };
  }
  try {
    const { local } = form;
    return local && uploadRoot !== undefined
      ? {
          operation,
          ...(await parseLocalFile({ ...form, input: local.extend(form.input.shape) }, given, uploadRoot)),
        }
      : { operation, input: readArguments(form, given) };
  } catch (error) {
    if (error instanceof Failure) {
      return { rejected: toRejectedCall(error) };
    }
    throw error;
  }
}

/** Arguments that may name a file of this machine. @throws Failure */
async function parseLocalFile(
  form: ToolMapping,
  given: Readonly<Record<string, unknown>>,
  uploadRoot: string,
) {
  const { file_path: path, ...input } = readArguments(form, given);
  const others = ["content_base64", "url"].filter((name) => input[name] !== undefined);
  const count = others.length + (path === undefined ? 0 : 1);
  if (count !== 1) {
    throw fail("one_source_needed", { count, known: "file_path, content_base64 and url" });
  }
  return { input, file: path === undefined ? undefined : await openLocalFile(uploadRoot, String(path)) };
}

/** A rejected in the words of the catalogue. */
export function rejectCall(code: ErrorCode, detail?: FailureDetail): RejectedCall {
  return toRejectedCall(fail(code, detail));
}

/** The rejected of a tool that the credential's scopes do not cover. */
export function rejectMissingScope(rule: ScopeRule | null): RejectedCall {
  return rejectCall("insufficient_scope", missingScope(rule));
}

function toRejectedCall(failure: Failure): RejectedCall {
  const { status, code, message } = failure;
  return { status, code, message, error: failure.body().error };
}
