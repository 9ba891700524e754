/**
 * What a module is: the operations of one resource, the jobs it does later, the events it reacts to.
 *
 * A missing handler, an extra one, a wrong answer and an unknown event name do not compile.
 */
import type { z } from "zod";
import type { Effect, Operation, VariantOf } from "../../../tools/contract/index.ts";
import type { Event, EventName } from "../../../tools/events.ts";
import type { Attempt, Outcome } from "../../jobs/job.ts";
import type {
  DelegatedContext,
  EventRecorder,
  PublicContext,
  ReadContext,
  StreamedContext,
  World,
  WriteContext,
} from "./context.ts";
import type { StreamedInput } from "./form.ts";

interface Contexts {
  read: ReadContext;
  write: WriteContext;
  outward: ReadContext;
  delegated: DelegatedContext;
  streamed: StreamedContext;
  public: PublicContext;
}

type ContextOf<Op extends Operation> =
  Op extends Operation<infer Kind extends Effect>
    ? Contexts[Kind] & { readonly variant: VariantOf<Op> | undefined }
    : never;

/** Answers one operation; a streamed one answers by what it commits. */
export type Handler<Op extends Operation> =
  Op extends Operation<"streamed">
    ? (
        arriving: StreamedInput<z.output<Op["input"]>>,
        context: StreamedContext<z.input<Op["output"]>>,
      ) => Promise<void>
    : (input: z.output<Op["input"]>, context: ContextOf<Op>) => Promise<z.input<Op["output"]>>;

/**
 * A write with a part that takes long and needs no database: that part runs before the transaction, which on
 * the embedded engine holds the only connection.
 */
export interface PreparedHandler<Op extends Operation> {
  prepare(input: z.output<Op["input"]>): Promise<(context: ContextOf<Op>) => Promise<z.input<Op["output"]>>>;
}

/** A job as a module writes it: the engine's definition, with the world handed in. */
export interface ModuleJob<Payload> {
  readonly name: string;
  readonly maxAttempts?: number;
  readonly leaseMs?: number;
  readonly schedule?: string;
  run(payload: Payload, world: World, attempt: Attempt): Promise<Outcome>;
  exhausted?(payload: Payload, world: World, error: unknown): Promise<void>;
}

export type Listeners = {
  readonly [Name in EventName]?: (event: Event<Name>, world: World, attempt: Attempt) => Promise<void>;
};

/** A handler of either kind, whose types `implement` has checked. */
type AnyHandler =
  | ((input: never, context: never) => Promise<unknown>)
  | { prepare(input: never): Promise<(context: never) => Promise<unknown>> };

export interface Module {
  readonly contract: Readonly<Record<string, Operation>>;
  readonly operations: Readonly<Record<string, AnyHandler>>;
  readonly jobs: readonly ModuleJob<never>[];
  readonly on: Listeners;
  readonly recordEvents: EventRecorder | undefined;
}

/** Implements a resource's operations. */
export function implement<Contract extends Readonly<Record<string, Operation>>>(
  contract: Contract,
  parts: {
    /** Tools that no transport offers yet, of operations that are implemented. */
    readonly unbuiltTools?: readonly string[];
    readonly operations: {
      readonly [Name in keyof Contract]: Handler<Contract[Name]> | PreparedHandler<Contract[Name]>;
    };
    readonly jobs?: readonly ModuleJob<never>[];
    readonly on?: Listeners;
    /** What it writes of each event, in the event's own transaction. */
    readonly recordEvents?: EventRecorder;
  },
): Module {
  const { unbuiltTools = [], operations, jobs = [], on = {}, recordEvents } = parts;
  const offered = Object.entries<Operation>(contract).map(([name, operation]) => [
    name,
    withoutTools(operation, unbuiltTools),
  ]);
  return { contract: Object.fromEntries(offered), operations, jobs, on, recordEvents };
}

function withoutTools(operation: Operation, names: readonly string[]): Operation {
  const forms = Object.entries(operation.tools ?? {});
  const isWhole = !forms.some(([name]) => names.includes(name));
  const offered = forms.filter(([name]) => !names.includes(name));
  return isWhole ? operation : { ...operation, tools: Object.fromEntries(offered) };
}
