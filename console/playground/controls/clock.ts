/**
 * The clock of a sandbox. It belongs to the operator, because it moves for every organization of the service:
 * the requests have the operator's key, which is in memory as long as the page is open.
 */
import type { clock } from "../../../tools/clock.ts";
import type { OutputOf } from "../../../tools/contract/index.ts";
import { ServiceError } from "../../service/errors.ts";
import { request } from "../../service/request.ts";
import { renewSession } from "../../session/session.ts";

type Shown = OutputOf<typeof clock.get_clock>;
type Moved = OutputOf<typeof clock.move_clock>;
export type ClockState = Shown["data"];

const path = "/operator/v1/clock";
/** A request moves the clock by about a hundred jumps, so that fewer requests take less time. */
const longestStepMs = 24 * 3_600_000;
/** A session ends after 12 hours without use: it is used while the clock moves. */
const renewalMs = 200;

/**
 * Whether the service has an operator's key: without one, its route does not exist.
 * @throws ServiceError, ConnectionError
 */
export async function hasOperator(): Promise<boolean> {
  try {
    await request(path, {});
    return true;
  } catch (error) {
    if (error instanceof ServiceError && error.status === 404) {
      return false;
    }
    if (error instanceof ServiceError && error.status === 401) {
      return true;
    }
    throw error;
  }
}

/** @throws ServiceError, ConnectionError */
export async function readClock(key: string): Promise<ClockState> {
  const answer = await request(path, { headers: { "x-api-key": key } });
  return ((await answer.json()) as Shown).data; // the service serializes by the same schema
}

interface Move {
  readonly key: string;
  readonly byMs: number;
  readonly onStep: (state: ClockState) => void;
}

/** Moves the clock forward; what is due on the way runs at its time. @throws ServiceError, ConnectionError */
export async function moveClockBy({ key, byMs, onStep }: Move): Promise<void> {
  let present = Date.parse((await readClock(key)).now);
  const target = present + byMs;
  while (present < target) {
    const to = new Date(Math.min(present + longestStepMs, target)).toISOString();
    const answer = await keepSession(
      request(path, {
        method: "PUT",
        headers: { "x-api-key": key, "content-type": "application/json" },
        body: JSON.stringify({ to }),
      }),
    );
    const { data } = (await answer.json()) as Moved; // the service serializes by the same schema
    onStep(data);
    present = Date.parse(data.now);
  }
}

/** Uses the session until the request has ended. */
async function keepSession(moving: Promise<Response>): Promise<Response> {
  const timer = setInterval(() => void renewSession().catch(() => undefined), renewalMs);
  try {
    return await moving;
  } finally {
    clearInterval(timer);
  }
}
