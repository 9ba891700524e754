/** The clock of a sandbox, which its operator moves forward. Its operations are no tools. */
import { z } from "zod";
import { type ErrorEntry, errorEntry, inputTimestamp, one, operation, timestamp } from "./contract/index.ts";
import { duration } from "./flows/nodes/index.ts";

const SandboxClock = z.object({
  now: timestamp,
  /** How far the clock is ahead of the real time. */
  ahead_seconds: z.int(),
  is_movable: z.boolean(),
});

export const clock = {
  get_clock: operation({
    method: "GET",
    path: "/operator/v1/clock",
    credential: "operator",
    scope: null,
    title: "Get clock",
    description: "Show the time of the service, how far it is ahead, and whether it can be moved.",
    input: z.object({}),
    output: one(SandboxClock),
    tools: {},
  }),

  move_clock: operation({
    method: "PUT",
    path: "/operator/v1/clock",
    credential: "operator",
    scope: null,
    title: "Move clock",
    description:
      "Move the clock of a sandbox forward. On the way it stops wherever a job is due and runs it. After 20 seconds it answers with reached: false; send the same request with to again.",
    input: z
      .object({
        to: inputTimestamp.optional().describe("The new time"),
        by: duration.optional().describe("How far to move it, for example 90m, 24h or 30d"),
      })
      .superRefine(({ to, by }, context) => {
        if ((to === undefined) === (by === undefined)) {
          context.addIssue({ code: "custom", path: ["to"], message: "Send either to or by." });
        }
      }),
    output: one(
      SandboxClock.extend({
        /** The time to which the clock moves. */
        to: timestamp,
        reached: z.boolean(),
      }),
    ),
    tools: {},
  }),
};

export const clockErrors = {
  clock_not_movable: errorEntry(
    "conflict",
    409,
    "The clock of this service can't be moved.",
    "Start a sandbox, a service with a data folder of its own, with TIDINGS_SANDBOX_CLOCK=on.",
  ),
  clock_moving: errorEntry(
    "conflict",
    409,
    "Another request is moving the clock.",
    "Wait for its answer, and send the request again.",
  ),
  clock_time_invalid: errorEntry(
    "invalid_request",
    400,
    "The clock moves forward only, and at most 10 years ahead of the real time.",
    "Send a later time in to. GET /operator/v1/clock shows the current one.",
  ),
} as const satisfies Record<string, ErrorEntry>;
