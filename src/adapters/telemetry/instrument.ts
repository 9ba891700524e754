/**
 * Adds spans and metrics to calls, jobs, channels and tools, which know nothing of telemetry.
 *
 * Each function takes the thing and returns the same thing instrumented. The types are structural, because
 * an adapter imports ports alone.
 */
import type { Channel } from "../../ports/channel.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Telemetry, Tracer } from "../../ports/telemetry.ts";

type Instruments = Pick<Telemetry, "metrics" | "tracer">;

/** What wraps the platform's calls and jobs. */
export function createInstruments(telemetry: Instruments, now: Clock) {
  return {
    call: <Request extends { readonly operation: string }, Answer>(
      call: (request: Request) => Promise<Answer>,
    ) => instrumentCall(call, telemetry.tracer),
    enqueue: <Tx, Job extends EnqueuedJob>(enqueue: (tx: Tx, ...jobs: readonly Job[]) => Promise<void>) =>
      instrumentEnqueue(enqueue, telemetry.tracer),
    job: <Job extends RunnableJob>(job: Job) => instrumentJob(job, telemetry, now),
  };
}

/** A span for each call of an operation. */
function instrumentCall<Request extends { readonly operation: string }, Answer>(
  call: (request: Request) => Promise<Answer>,
  tracer: Tracer,
): (request: Request) => Promise<Answer> {
  return (request) =>
    tracer.run({ name: `call ${request.operation}`, kind: "internal" }, () => call(request));
}

interface EnqueuedJob {
  readonly name: string;
  readonly traceparent?: string | undefined;
}

/** A span for each enqueueing, whose trace the job continues. */
function instrumentEnqueue<Tx, Job extends EnqueuedJob>(
  enqueue: (tx: Tx, ...jobs: readonly Job[]) => Promise<void>,
  tracer: Tracer,
): (tx: Tx, ...jobs: readonly Job[]) => Promise<void> {
  return (tx, ...jobs) =>
    tracer.run({ name: `enqueue ${jobs[0]?.name ?? "nothing"}`, kind: "producer" }, () => {
      const traceparent = tracer.traceparent();
      return enqueue(tx, ...jobs.map((job) => ({ ...job, traceparent })));
    });
}

interface JobAttempt {
  readonly number: number;
  /** ISO 8601. */
  readonly dueAt: string;
  readonly traceparent: string | null;
}

interface RunnableJob {
  readonly name: string;
  run(payload: unknown, attempt: JobAttempt): Promise<unknown>;
}

/** A span and a metric for each attempt at a job. */
function instrumentJob<Job extends RunnableJob>(job: Job, { metrics, tracer }: Instruments, now: Clock): Job {
  const { name } = job;
  return {
    ...job,
    async run(payload: unknown, attempt: JobAttempt) {
      const waited = Math.max(0, now().getTime() - Date.parse(attempt.dueAt)) / 1000;
      const seconds = startTimer();
      let outcome: "done" | "again" | "failed" = "failed";
      try {
        const attributes = { "tidings.attempt": attempt.number };
        const result = await tracer.run(
          { name: `job ${name}`, kind: "consumer", parent: attempt.traceparent, attributes },
          () => job.run(payload, attempt),
        );
        outcome = result ? "again" : "done";
        return result;
      } finally {
        metrics.job({ name, outcome, seconds: seconds(), waited });
      }
    },
  };
}

/** A span and a metric for each message that is handed to a channel. */
export function instrumentChannel(name: string, channel: Channel, { metrics, tracer }: Instruments): Channel {
  return {
    async send(message, signal) {
      const seconds = startTimer();
      let outcome: "accepted" | "refused" | "busy" | "unknown" = "unknown";
      try {
        const result = await tracer.run({ name: `send by ${name}`, kind: "client" }, () =>
          channel.send(message, signal),
        );
        outcome = result.outcome;
        return result;
      } finally {
        metrics.channelSend({ channel: name, outcome, seconds: seconds() });
      }
    },
    find: (token, organization) =>
      tracer.run({ name: `find by ${name}`, kind: "client" }, () => channel.find(token, organization)),
  };
}

interface NamedCall {
  readonly name: string;
  readonly meta?: Readonly<Record<string, unknown>> | undefined;
}

/**
 * A span and a metric for each tool call. The request that a tool makes becomes a child of the call: the
 * call's trace replaces the one that it came with.
 *
 * @param names the tools that exist; any other name is counted as "unknown".
 */
export function instrumentTools(names: ReadonlySet<string>, { metrics, tracer }: Instruments) {
  return <Caller, Call extends NamedCall, Result extends { readonly isError?: boolean | undefined }>(
    runTool: (caller: Caller, call: Call) => Promise<Result>,
  ) =>
    async (caller: Caller, call: Call): Promise<Result> => {
      const tool = names.has(call.name) ? call.name : "unknown";
      const seconds = startTimer();
      let outcome: "done" | "failed" | "refused" = "refused";
      const given = call.meta?.traceparent;
      const parent = typeof given === "string" ? { parent: given } : {};
      try {
        const result = await tracer.run({ name: `tools/call ${tool}`, kind: "server", ...parent }, () => {
          const traceparent = tracer.traceparent();
          return runTool(caller, traceparent ? { ...call, meta: { ...call.meta, traceparent } } : call);
        });
        outcome = result.isError ? "failed" : "done";
        return result;
      } finally {
        metrics.toolCall({ tool, outcome, seconds: seconds() });
      }
    };
}

function startTimer(): () => number {
  const startedAt = performance.now();
  return () => (performance.now() - startedAt) / 1000;
}
