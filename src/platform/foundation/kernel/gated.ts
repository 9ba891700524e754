/** What a module gets of a call that is bound by rules, and how it holds the call back. */
import type { Operation } from "../../../../tools/contract/index.ts";
import type { Caller } from "./actor.ts";
import type { PublicContext, WriteContext } from "./context.ts";

/** A call that is bound by rules. */
export interface GatedCall {
  readonly name: string;
  readonly operation: Operation;
  readonly caller: Caller;
  readonly context: PublicContext;
  /** The parsed input, and the input as it was sent. */
  readonly input: unknown;
  readonly sent: unknown;
  /** The idempotency key. */
  readonly key: string | undefined;
  readonly route: string;
  /** Hashes of the operation and its input, as for an idempotency key. */
  readonly hashes: readonly string[];
  /** Runs `effect` in a transaction. */
  write<Result>(effect: (context: WriteContext) => Promise<Result>): Promise<Result>;
  /** Runs a write and rolls it back. @throws Failure of the call. */
  rehearse(): Promise<void>;
}

/** Returns the response of a call that is held back; undefined if it may run. @throws Failure */
export type CallGate = (call: GatedCall) => Promise<GatedResponse | undefined>;

interface GatedResponse {
  readonly status: number;
  readonly body: unknown;
  /** Whether an earlier call with the same key got it too. */
  readonly isReplay: boolean;
}
