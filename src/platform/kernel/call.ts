/**
 * The one way to run an operation: credential → scope → input → handler → output.
 *
 * Every face comes through here, so none has rules of its own.
 */

import {
  type Credential,
  describeTools,
  type Effect,
  failInput,
  formsOf,
  missingScope,
  type Operation,
  permits,
  readArguments,
  type ScopeRule,
} from "../../../tools/contract/index.ts";
import { fail } from "../../../tools/errors.ts";
import type { Caller, DelegatedContext, PublicContext, World } from "./context.ts";
import type { Form } from "./form.ts";
import type { Answer } from "./idempotency.ts";
import type { Module } from "./module.ts";
import { answer, type Run as Recorded, record, tenant } from "./record.ts";
import { requireStorable } from "./storable.ts";
import { streamed } from "./streamed.ts";

/** What a face hands over. */
export interface Request {
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

export type Call = (request: Request) => Promise<Answer>;

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
  const runs: Record<Exclude<Effect, "streamed">, (run: Run, caller: Caller) => Promise<Answer>> = {
    read,
    write,
    outward: read,
    delegated,
    public: publicly,
  };

  const call: Call = async (request) => {
    const entry = entries.get(request.operation);
    if (!entry) {
      throw fail("tool_not_found", { value: request.operation });
    }
    const { operation } = entry;
    const { effect } = operation;
    const path = request.path ?? operation.path;
    const caller = admit(operation, path, request.caller);
    const context = { world, now: world.now(), path, signal: request.signal };
    const { form, input: given, idempotencyKey: key, route = `${operation.method} ${path}` } = request;
    const common = { name: request.operation, operation, context, key, route };
    const parse = (input: unknown) => readInput(operation, input);
    if (!caller) {
      return publicly({ ...common, entry, input: parse(given) });
    }
    if (effect === "streamed") {
      return streamed({ ...common, form, given, parse, prepare: entry.prepare }, caller);
    }
    return runs[effect]({ ...common, entry, input: parse(given) }, caller);
  };

  const tools = (
    caller: Caller,
    { key, route, context: { signal } }: Run,
    note: (answer: Answer) => void,
  ): DelegatedContext["tools"] => ({
    list: () =>
      describeTools(contracts)
        .filter((tool) => permits(caller.scopes, tool.scope))
        .map(({ name, description, inputSchema }) => ({ name, description, input_schema: inputSchema })),
    async call(name, given) {
      const [operation, form] = findForm(contracts, name);
      requireScope(caller, contracts[operation]?.scope ?? null);
      const input = readArguments(form, given);
      const result = await call({ operation, caller, input, idempotencyKey: key, route, signal });
      note(result);
      return result.body as Record<string, unknown>; // every output is an object
    },
  });

  async function delegated(run: Run, caller: Caller): Promise<Answer> {
    let isReplay = false;
    const offered = tools(caller, run, (inner) => {
      isReplay ||= inner.isReplay;
    });
    const context = { ...run.context, caller, tools: offered };
    return { ...(await respond(run, context)), isReplay };
  }

  return call;
}

interface Run extends Recorded {
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

async function publicly(run: Run): Promise<Answer> {
  return respond(run, run.context);
}

async function read(run: Run, caller: Caller): Promise<Answer> {
  const db = run.context.world.database.queries;
  return respond(run, tenant(run.context, caller, { db }));
}

async function respond({ entry, input }: Run, context: PublicContext): Promise<Answer> {
  const handle = await entry.prepare(input);
  return answer(entry.operation, await handle(context));
}

async function write(run: Run, caller: Caller): Promise<Answer> {
  const handle = await run.entry.prepare(run.input);
  return record(run, caller, [run.input], handle);
}

function admit(operation: Operation, path: string, caller: Caller | null): Caller | null {
  const also = operation.also.find((other) => other.path === path);
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

function findForm(contracts: Record<string, Operation>, name: string) {
  for (const [operation, declaration] of Object.entries(contracts)) {
    const forms = formsOf(operation, declaration);
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
