/**
 * The one way to run an operation: credential → scope → input → handler → output.
 *
 * Every face comes through here, so none has rules of its own.
 */

import {
  type Credential,
  closeTexts,
  describeTools,
  type Effect,
  failInput,
  missingScope,
  type Operation,
  type OtherPath,
  permits,
  readArguments,
  type ScopeRule,
  toolMappingsOf,
  toolNames,
} from "../../../tools/contract/index.ts";
import { fail } from "../../../tools/errors.ts";
import { catalogue } from "../../../tools/index.ts";
import type { Caller, DelegatedContext, PublicContext, World } from "./context.ts";
import {
  createResponse,
  createTenantContext,
  executeWrite,
  type OperationCall as Recorded,
} from "./execute-write.ts";
import type { Form } from "./form.ts";
import type { CallResponse } from "./idempotency.ts";
import type { Module } from "./module.ts";
import { runStreamed } from "./run-streamed.ts";
import { requireStorable } from "./storable.ts";

/** What a face hands over. */
export interface CallRequest {
  readonly operation: string;
  /** The declared path by which it came; the operation's own when left out. */
  readonly path?: string;
  readonly caller: Caller | null;
  readonly input: unknown;
  /** The input that is still coming, in place of `input`; only a streamed operation takes one. */
  readonly form?: Form | undefined;
  readonly idempotencyKey?: string | undefined;
  /** The route under which the key counts; that of the path when left out. */
  readonly route?: string;
  /** Aborted when the caller hangs up. */
  readonly signal: AbortSignal;
}

export type Call = (request: CallRequest) => Promise<CallResponse>;

/** An operation with its handler, which `implement` has matched by type. */
interface Entry {
  readonly operation: Operation;
  /** Does what comes before a write's transaction, and answers the rest. */
  prepare(input: unknown): Promise<(context: PublicContext) => Promise<unknown>>;
}

type PlainHandler = (input: unknown, context: PublicContext) => Promise<unknown>;

export function createCall(modules: readonly Module[], world: World): Call {
  const entries = new Map<string, Entry>(modules.flatMap(entriesOf));
  const contracts = Object.assign({}, ...modules.map((module) => module.contract)) as Record<
    string,
    Operation
  >;

  /** A streamed one is run apart: its input is still coming. */
  const runs: Record<
    Exclude<Effect, "streamed">,
    (run: PreparedCall, caller: Caller) => Promise<CallResponse>
  > = {
    read: runRead,
    write: runWrite,
    outward: runRead,
    delegated,
    public: runPublic,
  };

  const call: Call = async (request) => {
    const entry = entries.get(request.operation);
    if (!entry) {
      throw fail("tool_not_found", { value: request.operation });
    }
    const { operation } = entry;
    const { effect } = operation;
    const path = request.path ?? operation.path;
    const also = operation.also.find((other) => other.path === path);
    const caller = authorize(operation, also, request.caller);
    const context = { world, now: world.now(), variant: also?.variant, signal: request.signal };
    const { form, input: rawInput, idempotencyKey: key, route = `${operation.method} ${path}` } = request;
    const common = { name: request.operation, operation, context, key, route };
    const parse = (input: unknown) => readInput(operation, input);
    if (!caller) {
      return runPublic({ ...common, entry, input: parse(rawInput) });
    }
    if (effect === "streamed") {
      return runStreamed({ ...common, form, rawInput, parse, prepare: entry.prepare }, caller);
    }
    return runs[effect]({ ...common, entry, input: parse(rawInput) }, caller);
  };

  const tools = (
    caller: Caller,
    { key, route, context: { signal } }: PreparedCall,
    note: (answer: CallResponse) => void,
  ): DelegatedContext["tools"] => ({
    list: () =>
      closeTexts(
        describeTools(contracts).filter((tool) => permits(caller.scopes, tool.scope)),
        toolNames(catalogue),
      ).map(({ name, description, inputSchema }) => ({ name, description, input_schema: inputSchema })),
    async call(name, given) {
      const [operation, form] = findTool(contracts, name);
      requireScope(caller, contracts[operation]?.scope ?? null);
      const input = readArguments(form, given);
      const result = await call({ operation, caller, input, idempotencyKey: key, route, signal });
      note(result);
      return result.body as Record<string, unknown>; // every output is an object
    },
  });

  async function delegated(run: PreparedCall, caller: Caller): Promise<CallResponse> {
    let isReplay = false;
    const offered = tools(caller, run, (inner) => {
      isReplay ||= inner.isReplay;
    });
    const context = { ...run.context, caller, tools: offered };
    return { ...(await respond(run, context)), isReplay };
  }

  return call;
}

interface PreparedCall extends Recorded {
  readonly entry: Entry;
  readonly input: unknown;
}

/** @throws Failure `invalid_request`, field by field. */
function readInput({ input: schema }: Operation, given: unknown): unknown {
  requireStorable(given);
  const parsed = schema.safeParse(given);
  if (!parsed.success) {
    throw failInput(parsed.error.issues, given);
  }
  return parsed.data;
}

async function runPublic(run: PreparedCall): Promise<CallResponse> {
  return respond(run, run.context);
}

async function runRead(run: PreparedCall, caller: Caller): Promise<CallResponse> {
  const db = run.context.world.database.queries;
  return respond(run, createTenantContext(run.context, caller, { db }));
}

async function respond({ entry, input }: PreparedCall, context: PublicContext): Promise<CallResponse> {
  const handle = await entry.prepare(input);
  return createResponse(entry.operation, await handle(context));
}

async function runWrite(run: PreparedCall, caller: Caller): Promise<CallResponse> {
  const handle = await run.entry.prepare(run.input);
  return executeWrite(run, caller, [run.input], handle);
}

function authorize(operation: Operation, also: OtherPath | undefined, caller: Caller | null): Caller | null {
  const credential: Credential = also?.credential ?? operation.credential;
  if (credential === "none") {
    return null;
  }
  if (!caller) {
    throw fail("credential_missing");
  }
  if (credential === "bearer" && !caller.user) {
    throw fail("sign_in_required");
  }
  requireScope(caller, also?.scope === undefined ? operation.scope : also.scope);
  return caller;
}

function requireScope(caller: Caller, rule: ScopeRule | null): void {
  if (!permits(caller.scopes, rule)) {
    throw fail("insufficient_scope", missingScope(rule));
  }
}

function findTool(contracts: Record<string, Operation>, name: string) {
  for (const [operation, declaration] of Object.entries(contracts)) {
    const forms = toolMappingsOf(operation, declaration);
    const form = Object.hasOwn(forms, name) ? forms[name] : undefined;
    if (form) {
      return [operation, form] as const;
    }
  }
  throw fail("tool_not_found", { value: name });
}

function entriesOf(module: Module): [string, Entry][] {
  return Object.entries(module.contract).map(([name, operation]) => {
    // The pair was matched by type in `implement`; here only the name is left.
    const handler = module.operations[name] as PlainHandler | Pick<Entry, "prepare">;
    return [
      name,
      typeof handler === "function"
        ? { operation, prepare: async (input) => (context) => handler(input, context) }
        : { operation, prepare: (input) => handler.prepare(input) },
    ];
  });
}
