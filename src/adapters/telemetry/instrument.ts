/**
 * Adds spans and metrics to calls, jobs, channels, review authorities, the payment processor and tools, which
 * do not depend on telemetry.
 *
 * Each function returns its argument, instrumented. The types are structural, because an adapter imports only
 * ports.
 */
import type { Channel } from "../../ports/channel/channel.ts";
import type { TemplateAuthority } from "../../ports/channel/template-authority.ts";
import type { Clock } from "../../ports/clock.ts";
import type { PaymentProcessor } from "../../ports/payments.ts";
import type { Telemetry, Tracer } from "../../ports/telemetry/telemetry.ts";

type Instruments = Pick<Telemetry, "metrics" | "tracer">;

/** The wrappers for the platform's calls and jobs, and for the ports. */
export function createInstruments(telemetry: Instruments, now: Clock) {
  return {
    call: <Request extends { readonly operation: string }, Answer>(
      call: (request: Request) => Promise<Answer>,
    ) => instrumentCall(call, telemetry.tracer),
    enqueuer: <Tx, Job extends EnqueuedJob>(insert: (tx: Tx, jobs: readonly Job[]) => Promise<void>) =>
      instrumentEnqueuer(insert, telemetry.tracer),
    job: <Job extends RunnableJob>(job: Job) => instrumentJob(job, telemetry, now),
    ports: ({ channels, payments }: Ports) => ({
      channels: Object.fromEntries(
        Object.entries(channels).map(([name, channel]) => [
          name,
          instrumentChannel(name, channel, telemetry),
        ]),
      ),
      payments: instrumentPayments(payments, telemetry.tracer),
    }),
  };
}

interface Ports {
  /** By name. */
  readonly channels: Readonly<Record<string, Channel>>;
  readonly payments: PaymentProcessor;
}

/** A span for each call of an operation. */
function instrumentCall<Request extends { readonly operation: string }, Answer>(
  call: (request: Request) => Promise<Answer>,
  tracer: Tracer,
): (request: Request) => Promise<Answer> {
  return (request) =>
    tracer.withSpan({ name: `call ${request.operation}`, kind: "internal" }, () => call(request));
}

interface EnqueuedJob {
  readonly name: string;
  readonly traceparent?: string | undefined;
}

/** A span for each statement that adds jobs. A job without a trace of its own continues its trace. */
function instrumentEnqueuer<Tx, Job extends EnqueuedJob>(
  insert: (tx: Tx, jobs: readonly Job[]) => Promise<void>,
  tracer: Tracer,
): (tx: Tx, jobs: readonly Job[]) => Promise<void> {
  return (tx, jobs) =>
    tracer.withSpan({ name: `enqueue ${jobs[0]?.name ?? "nothing"}`, kind: "producer" }, () => {
      const traceparent = tracer.traceparent();
      return insert(
        tx,
        jobs.map((job) => ({ ...job, traceparent: job.traceparent ?? traceparent })),
      );
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
        const result = await tracer.withSpan(
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

/**
 * A span and a metric for each message that is sent by a channel, and a span for each call of
 * its review authority.
 */
function instrumentChannel(name: string, channel: Channel, { metrics, tracer }: Instruments): Channel {
  return {
    ...channel,
    async send(message, options) {
      const seconds = startTimer();
      let outcome: "accepted" | "refused" | "busy" | "stopped" | "unknown" = "unknown";
      try {
        const result = await tracer.withSpan({ name: `send by ${name}`, kind: "client" }, () =>
          channel.send(message, options),
        );
        outcome = result.outcome;
        return result;
      } finally {
        metrics.channelSend({ channel: name, outcome, seconds: seconds() });
      }
    },
    find: (token, organization) =>
      tracer.withSpan({ name: `find by ${name}`, kind: "client" }, () => channel.find(token, organization)),
    check: (inbox, options) =>
      tracer.withSpan({ name: `check by ${name}`, kind: "client" }, () => channel.check(inbox, options)),
    ...(channel.templates && { templates: instrumentAuthority(name, channel.templates, tracer) }),
  };
}

/** A span for each call of the authority that reviews templates. */
function instrumentAuthority(name: string, authority: TemplateAuthority, tracer: Tracer): TemplateAuthority {
  const withSpan = <Result>(action: string, work: () => Promise<Result>) =>
    tracer.withSpan({ name: `${action} templates at ${name}`, kind: "client" }, work);
  return {
    ...authority,
    submit: (submission, signal) => withSpan("submit", () => authority.submit(submission, signal)),
    list: (query, signal) => withSpan("list", () => authority.list(query, signal)),
    delete: (template, signal) => withSpan("delete", () => authority.delete(template, signal)),
  };
}

/** A span for each call of the payment processor. */
function instrumentPayments(processor: PaymentProcessor, tracer: Tracer): PaymentProcessor {
  const withSpan = <Result>(action: string, work: () => Promise<Result>) =>
    tracer.withSpan({ name: `${action} at ${processor.name}`, kind: "client" }, work);
  return {
    ...processor,
    createOrder: (...args) => withSpan("create order", () => processor.createOrder(...args)),
    findPayment: (...args) => withSpan("find payment", () => processor.findPayment(...args)),
    listPayments: (...args) => withSpan("list payments", () => processor.listPayments(...args)),
    capture: (...args) => withSpan("capture payment", () => processor.capture(...args)),
    refund: (...args) => withSpan("refund payment", () => processor.refund(...args)),
  };
}

interface NamedCall {
  readonly name: string;
  readonly meta?: Readonly<Record<string, unknown>> | undefined;
}

/**
 * A span and a metric for each tool call. The traceparent of the span replaces the request's, so that the
 * HTTP request of the tool becomes a child span.
 *
 * @param names the tools that exist; any other name is counted as "unknown".
 */
export function instrumentTools(names: ReadonlySet<string>, { metrics, tracer }: Instruments) {
  return <Caller, Call extends NamedCall, Result extends object>(
    runTool: (caller: Caller, call: Call) => Promise<Result>,
  ) =>
    async (caller: Caller, call: Call): Promise<Result> => {
      const tool = names.has(call.name) ? call.name : "unknown";
      const seconds = startTimer();
      let outcome: "done" | "failed" | "refused" = "refused";
      const received = call.meta?.traceparent;
      const parent = typeof received === "string" ? { parent: received } : {};
      try {
        const result = await tracer.withSpan(
          { name: `tools/call ${tool}`, kind: "server", ...parent },
          () => {
            const traceparent = tracer.traceparent();
            return runTool(caller, traceparent ? { ...call, meta: { ...call.meta, traceparent } } : call);
          },
        );
        outcome = "isError" in result && result.isError === true ? "failed" : "done";
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
