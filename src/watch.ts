/** Puts telemetry around the parts of the house, which know nothing of it: the one call, tools, jobs, channels. */
import type { JobDefinition } from "./jobs/job.ts";
import type { RunningJobs } from "./jobs/jobs.ts";
import type { RunTool } from "./mcp/call.ts";
import { executeToolName, searchToolsName } from "./mcp/search.ts";
import type { Platform } from "./platform/index.ts";
import type { Channel } from "./ports/channel.ts";
import type { Clock } from "./ports/clock.ts";
import type { Telemetry, Tracer } from "./ports/telemetry.ts";

type Watching = Pick<Telemetry, "metrics" | "tracer">;

export function watchCall(call: Platform["call"], tracer: Tracer): Platform["call"] {
  return (request) =>
    tracer.run({ name: `call ${request.operation}`, kind: "internal" }, () => call(request));
}

/** What is enqueued goes on with the trace that it is enqueued in. */
export function watchJobs(jobs: RunningJobs, tracer: Tracer): RunningJobs {
  return {
    ...jobs,
    enqueue: (tx, ...work) =>
      tracer.run({ name: `enqueue ${work[0]?.name ?? "nothing"}`, kind: "producer" }, () => {
        const traceparent = tracer.traceparent();
        return jobs.enqueue(tx, ...work.map((one) => ({ ...one, traceparent })));
      }),
  };
}

export function watchWork(
  definition: JobDefinition,
  { metrics, tracer }: Watching,
  now: Clock,
): JobDefinition {
  const { name, run } = definition;
  return {
    ...definition,
    async run(payload, attempt) {
      const waited = Math.max(0, now().getTime() - Date.parse(attempt.dueAt)) / 1000;
      const seconds = stopwatch();
      let outcome: "done" | "again" | "failed" = "failed";
      try {
        const attributes = { "tidings.attempt": attempt.number };
        const result = await tracer.run(
          { name: `job ${name}`, kind: "consumer", parent: attempt.traceparent, attributes },
          () => run(payload, attempt),
        );
        outcome = result ? "again" : "done";
        return result;
      } finally {
        metrics.job({ name, outcome, seconds: seconds(), waited });
      }
    },
  };
}

export function watchChannel(name: string, channel: Channel, { metrics, tracer }: Watching): Channel {
  return {
    async send(message, signal) {
      const seconds = stopwatch();
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

/** The request that a tool makes is the child of its call: its trace replaces the one that came with the call. */
export function watchTools(names: Iterable<string>, { metrics, tracer }: Watching) {
  const known = new Set([...names, searchToolsName, executeToolName]);
  return (runTool: RunTool): RunTool =>
    async (caller, call) => {
      const tool = known.has(call.name) ? call.name : "unknown";
      const seconds = stopwatch();
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

function stopwatch(): () => number {
  const began = performance.now();
  return () => (performance.now() - began) / 1000;
}
