/**
 * The one way to run an operation: credential → scope → input → handler → output.
 *
 * Every face comes through here, so none has rules of its own.
 */
import { ErrorBody } from "../../../tools/errors.ts";
import { Failure, fail, lackOf, refuseInput } from "../../../tools/failure.ts";
import type { Credential, Operation } from "../../../tools/operation.ts";
import { permits, type ScopeRule } from "../../../tools/scopes.ts";
import { describeTools, formsOf, readArguments } from "../../../tools/tool.ts";
import { type Answer, hashRequest, keepClear, keepSealed, once } from "./idempotency.ts";
import type { Module } from "./module.ts";
import { requireStorable } from "./text.ts";
import type { Caller, DelegatedContext, PublicContext, World } from "./world.ts";

/** What a face hands over. */
export interface Request {
  readonly operation: string;
  /** The declared path by which it came; the operation's own when left out. */
  readonly path?: string;
  readonly caller: Caller | null;
  readonly input: unknown;
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

  const call: Call = async (request) => {
    const entry = entries.get(request.operation);
    if (!entry) {
      throw fail("tool_not_found", { value: request.operation });
    }
    const { operation } = entry;
    const path = request.path ?? operation.path;
    const caller = admit(operation, path, request.caller);
    requireStorable(request.input);
    const parsed = operation.input.safeParse(request.input);
    if (!parsed.success) {
      throw refuseInput(parsed.error.issues, request.input);
    }
    const context = { world, now: world.now(), path, signal: request.signal };
    const { idempotencyKey: key, route = `${operation.method} ${path}` } = request;
    const run = { name: request.operation, entry, input: parsed.data, context, key, route };
    if (!caller) {
      return publicly(run);
    }
    const runs = { read, write, outward: read, delegated, public: publicly };
    return runs[operation.effect](run, caller);
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

interface Run {
  readonly name: string;
  readonly entry: Entry;
  readonly input: unknown;
  readonly context: PublicContext;
  readonly key: string | undefined;
  readonly route: string;
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

async function write({ name, entry, input, context, key, route }: Run, caller: Caller): Promise<Answer> {
  const { operation } = entry;
  const handle = await entry.prepare(input);
  const result = await context.world.database.transaction(async (tx) => {
    const effect = async () => answer(operation, await handle(tenant(context, caller, { db: tx, tx })));
    if (key === undefined) {
      return effect();
    }
    const { world, now } = context;
    const repeatable = {
      claim: { organization_id: caller.organization_id, credential_id: caller.credential.id, route, key },
      hashes: hashRequest(world, name, input),
      keeping: operation.showsSecret ? keepSealed(world) : keepClear,
      now,
    };
    return once(tx, repeatable, effect);
  });
  if (result.status >= 400) {
    throw Failure.restore(ErrorBody.parse(result.body), result.isReplay);
  }
  return result;
}

function tenant(context: PublicContext, caller: Caller, parts: object): PublicContext {
  return { ...context, caller, organization: caller.organization_id, ...parts } as PublicContext;
}

/** What the contract does not name never leaves. */
function answer(operation: Operation, result: unknown): Answer {
  return { status: operation.status, body: operation.output.parse(result), isReplay: false };
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
    throw fail("insufficient_scope", lackOf(rule));
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
