/** The nodes that wait, decide, and lead to other nodes and flows. */
import { Failure } from "../../../../../tools/contract/index.ts";
import { durationMs } from "../../../../../tools/flows/index.ts";
import { conversationAttributes, parseQuery } from "../../../foundation/query/index.ts";
import { problemsOf } from "../graph/index.ts";
import { always, done, type NodeHandlers, type NodeOutcome } from "./node.ts";

/** The attributes of routing, and the variables of the run. */
export const flowAttributes = { ...conversationAttributes, "vars.<name>": { type: "any" } } as const;

export const controlHandlers: NodeHandlers<"wait" | "condition" | "start_flow" | "goto" | "end"> = {
  wait: {
    sharesTransaction: always,
    async enter({ duration, until }, { now, actions }) {
      if (duration !== undefined) {
        return waitUntil(new Date(now.getTime() + durationMs(duration)), now);
      }
      if (until === undefined) {
        const opening = await actions.nextOpening();
        return opening ? waitUntil(opening, now) : { kind: "error", code: "never_open" };
      }
      const isTimeOfDay = until.length === "09:00".length;
      return waitUntil(isTimeOfDay ? await actions.nextTimeOfDay(until) : new Date(until), now);
    },
    resume: () => done(),
  },

  condition: {
    check({ query }, field) {
      try {
        parseQuery(query, { field: `${field}.query`, attributes: flowAttributes });
        return [];
      } catch (error) {
        if (error instanceof Failure) {
          return problemsOf(error, `${field}.query`);
        }
        throw error;
      }
    },
    sharesTransaction: always,
    enter: ({ query }, { matches }) => ({
      kind: "next",
      edge: { type: "condition", isTrue: matches(query) },
    }),
  },

  start_flow: {
    references: ({ flow_id }) => [{ thing: "flow", id: flow_id, field: "flow_id" }],
    async enter({ flow_id }, { actions }) {
      const isTakenOver = await actions.startFlow(flow_id);
      return isTakenOver ? { kind: "handover" } : done();
    },
  },

  goto: { sharesTransaction: always, enter: ({ node_id }) => ({ kind: "goto", node_id }) },

  end: { sharesTransaction: always, enter: () => ({ kind: "end" }) },
};

function waitUntil(until: Date, now: Date): NodeOutcome {
  return until <= now ? done() : { kind: "wait", for: "time", until };
}
