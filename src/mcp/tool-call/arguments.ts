/**
 * Reads the arguments of a tool call by the catalogue's rules.
 *
 * It imports the whole catalogue, which is slow to load: so it is imported on the first tool call, or
 * after a list was sent.
 */
import { type ErrorBody, Failure, type Operation, type ToolMapping } from "../../../tools/contract/index.ts";
import { type ErrorCode, fail } from "../../../tools/errors.ts";
import { catalogue } from "../../../tools/index.ts";
import { createToolReader, type ToolRequest } from "../../../tools/tool-call.ts";
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

const readToolInput = createToolReader(catalogue);

/** Finds a tool's operation and reads its input, or says why the call is rejected. */
export async function parseCall(request: ToolRequest, uploadRoot: string | undefined): Promise<ParsedCall> {
  try {
    const { operation, mapping, input } = readToolInput({ ...request, isLocal: uploadRoot !== undefined });
    return { operation, ...(await openFile(mapping, input, uploadRoot)) };
  } catch (error) {
    if (error instanceof Failure) {
      return { rejected: toRejectedCall(error) };
    }
    throw error;
  }
}

/** Opens the file on this machine that the input names, if it may name one. @throws Failure */
async function openFile(
  { local }: ToolMapping,
  input: Record<string, unknown>,
  uploadRoot: string | undefined,
): Promise<{ readonly input: Record<string, unknown>; readonly file?: LocalFile }> {
  if (!local || uploadRoot === undefined) {
    return { input };
  }
  const { field, insteadOf } = local;
  const { [field]: path, ...others } = input;
  const count = [path, ...insteadOf.map((name) => others[name])].filter(
    (value) => value !== undefined,
  ).length;
  if (count !== 1) {
    const names = insteadOf.slice(0, -1).map((name) => `, ${name}`);
    throw fail("one_source_needed", { count, known: `${field}${names.join("")} and ${insteadOf.at(-1)}` });
  }
  return path === undefined
    ? { input: others }
    : { input: others, file: await openLocalFile(uploadRoot, String(path)) };
}

/** Makes a rejection from an error of the catalogue. */
export function rejectCall(code: ErrorCode): RejectedCall {
  return toRejectedCall(fail(code));
}

function toRejectedCall(failure: Failure): RejectedCall {
  const { status, code, message } = failure;
  return { status, code, message, error: failure.body().error };
}
