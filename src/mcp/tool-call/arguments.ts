/**
 * Reads the arguments of a tool call by the catalogue's rules.
 *
 * It imports the whole catalogue, which is slow to load: so it is imported on the first tool call, or
 * after a list was sent.
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
  withLocalField,
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
      /** The open file that the call names; the caller of this function closes it. */
      readonly file?: LocalFile | undefined;
      readonly rejected?: undefined;
    }
  | { readonly rejected: RejectedCall };

const operations: Readonly<Record<string, Operation>> = catalogue;

/** Finds a tool's operation and reads its input, or says why the arguments are rejected. */
export async function parseCall(
  tool: ListedTool,
  sent: Readonly<Record<string, unknown>>,
  uploadRoot: string | undefined,
): Promise<ParsedCall> {
  const operation = operations[tool.operation];
  const mapping = operation && toolMappingsOf(tool.operation, operation)[tool.name];
  if (!mapping) {
    return { rejected: rejectCall("tool_not_found", { value: tool.name }) };
  }
  try {
    const { local } = mapping;
    return local && uploadRoot !== undefined
      ? { operation, ...(await parseLocalFile(mapping, local, sent, uploadRoot)) }
      : { operation, input: readArguments(mapping, sent) };
  } catch (error) {
    if (error instanceof Failure) {
      return { rejected: toRejectedCall(error) };
    }
    throw error;
  }
}

/** Reads arguments that may name a file on this machine, and opens it. @throws Failure */
async function parseLocalFile(
  mapping: ToolMapping,
  { field, insteadOf }: NonNullable<ToolMapping["local"]>,
  sent: Readonly<Record<string, unknown>>,
  uploadRoot: string,
) {
  const { [field]: path, ...input } = readArguments(withLocalField(mapping), sent);
  const count = [path, ...insteadOf.map((name) => input[name])].filter((value) => value !== undefined).length;
  if (count !== 1) {
    const others = insteadOf.slice(0, -1).map((name) => `, ${name}`);
    throw fail("one_source_needed", { count, known: `${field}${others.join("")} and ${insteadOf.at(-1)}` });
  }
  return { input, file: path === undefined ? undefined : await openLocalFile(uploadRoot, String(path)) };
}

/** Makes a rejection from an error of the catalogue. */
export function rejectCall(code: ErrorCode, detail?: FailureDetail): RejectedCall {
  return toRejectedCall(fail(code, detail));
}

/** Makes the rejection of a tool that the credential's scopes do not permit. */
export function rejectMissingScope(rule: ScopeRule | null): RejectedCall {
  return rejectCall("insufficient_scope", missingScope(rule));
}

function toRejectedCall(failure: Failure): RejectedCall {
  const { status, code, message } = failure;
  return { status, code, message, error: failure.body().error };
}
