/**
 * Sends the request of an `http_request` node while its run waits.
 *
 * The intent is committed before the call (`is_called`), no transaction is open during the call, and the
 * result ends the wait in a later transaction. If a job finds the intent, an earlier attempt was interrupted:
 * a request that may be repeated is sent again with the same Idempotency-Key, and otherwise the outcome is
 * unknown. The result is dropped if the run was cancelled or its wait has ended meanwhile, because the result
 * names its episode.
 */

import { maxSecretsLength } from "../../../../../tools/flows/index.ts";
import type { FlowCallRequest, FlowCallResult } from "../../../../database/schema/index.ts";
import { defineJob, type Transaction, type World } from "../../../foundation/kernel/index.ts";
import { unsealSecrets } from "../definitions/secrets.ts";
import {
  callJobType,
  createAdvanceJob,
  type EpisodeKey,
  endWait,
  keyOf,
  lockRun,
  type RunRow,
  storeRun,
} from "../run/index.ts";
import { maxResponseBytes, toCallResult } from "./response.ts";

const repeatable: readonly FlowCallRequest["method"][] = ["GET", "HEAD", "PUT", "DELETE"];

const outcomeUnknown: FlowCallResult = { error: "http_outcome_unknown" };

export const callJob = defineJob({
  ...callJobType,

  async run(key, world, { signal, backOff }) {
    const call = await world.database.transaction((tx) => beginCall(tx, world, key));
    if (!call) {
      return undefined;
    }
    const result = call.isInterrupted ? outcomeUnknown : await send(world, call, signal);
    if ("error" in result && (result.error === "http_timeout" || result.error === "http_unreachable")) {
      backOff();
    }
    await recordResult(world, key, result);
    return undefined;
  },

  /** Every attempt of the call was interrupted. */
  async exhausted(key, world) {
    await recordResult(world, key, outcomeUnknown);
  },
});

interface Call {
  readonly request: FlowCallRequest;
  readonly idempotencyKey: string;
  /** Keyed by header names in lower case. */
  readonly secrets: ReadonlyMap<string, string>;
  /** An earlier attempt may have sent the request, and the request must not be sent twice. */
  readonly isInterrupted: boolean;
}

/** Commits the intent. Returns undefined if the run no longer waits for this call. */
async function beginCall(tx: Transaction, world: World, key: EpisodeKey): Promise<Call | undefined> {
  const run = await lockRun(tx, key);
  const { request } = run?.wait ?? {};
  if (!run?.wait || !request || run.status !== "waiting" || run.episode !== key.episode) {
    return undefined;
  }
  const { is_called: wasCalled = false, node_id } = run.wait;
  if (!wasCalled) {
    await storeRun({ tx, now: world.now() }, run, { ...run, wait: { ...run.wait, is_called: true } });
  }
  return {
    request,
    idempotencyKey: idempotencyKeyOf(run),
    secrets: await unsealSecrets(tx, world, { ...run, node_id }),
    isInterrupted: wasCalled && !repeatable.includes(request.method),
  };
}

/** Made of the step of the call, which stays the same when the call is repeated. */
function idempotencyKeyOf({ id, steps }: RunRow): string {
  return `${id}-${steps}`;
}

async function send(
  { web }: World,
  { request, idempotencyKey, secrets }: Call,
  signal: AbortSignal,
): Promise<FlowCallResult> {
  const { method, url, headers, secret_headers, body, timeout_ms: timeoutMs } = request;
  const secretHeaders = secret_headers.map((name) => [name, secrets.get(name.toLowerCase())] as const);
  if (secretHeaders.some(([, value]) => value === undefined)) {
    return { error: "http_secret_missing" };
  }
  // Each save was within the limit, but a save may have kept further values of an earlier version.
  if ([...secrets.values()].join("").length > maxSecretsLength) {
    return { error: "http_request_invalid" };
  }
  const response = await web.send({
    method,
    url,
    timeoutMs,
    signal,
    maxBytes: maxResponseBytes,
    tooLarge: "cut",
    headers: { ...headers, ...Object.fromEntries(secretHeaders), "idempotency-key": idempotencyKey },
    ...(body === null ? {} : { body }),
  });
  if (response.outcome === "failed" && response.reason === "aborted") {
    throw new Error("The app is stopping; the call is continued after a restart.");
  }
  return toCallResult(response, [...secrets.values()]);
}

/** Ends the wait, unless the wait or the run has already ended. */
async function recordResult(
  world: World,
  { episode, ...key }: EpisodeKey,
  result: FlowCallResult,
): Promise<void> {
  await world.database.transaction(async (tx) => {
    const run = await lockRun(tx, key);
    const resumed = run && endWait(run, { type: "response", episode, result });
    if (run && resumed) {
      await storeRun({ tx, now: world.now() }, run, resumed);
      await tx.enqueue([createAdvanceJob(keyOf(run))]);
    }
  });
}
