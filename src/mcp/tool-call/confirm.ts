/**
 * Lets the user of the client confirm a call that waits for it: asks the service to begin the confirmation,
 * asks the user, and sends the answer to the service, which runs the call.
 */
import { createHash } from "node:crypto";
import type { OutputOf } from "../../../tools/contract/index.ts";
import { plans } from "../../../tools/plans.ts";
import type { CallOptions, Client } from "../../client/index.ts";
import { shortenAndCount } from "../../texts/cut.ts";
import type { UserAnswer } from "./call.ts";

interface ConfirmingCall {
  readonly client: Client;
  readonly options: CallOptions;
  /** Identifies the call of the client. */
  readonly digest: string;
}

type ShownPlan = OutputOf<typeof plans.request_confirmation>["data"]["plan"];

const digestLength = 43;

export function digestCall(tool: string, input: Readonly<Record<string, unknown>>): string {
  const content = JSON.stringify([tool, input]);
  return createHash("sha256").update(content).digest("base64url").slice(0, digestLength);
}

/** @returns the question; undefined if a person has to release the plan. */
export async function beginConfirmation({ client, options, digest }: ConfirmingCall, id: string) {
  const { data } = await client.call(plans.request_confirmation, { id, call: digest }, options);
  const { plan, state } = data;
  // The id tells which plan the answer is about; the state is opaque.
  return state === null ? undefined : { message: describePlan(plan), state: `${id}:${state}` };
}

/**
 * Sends the user's answer. @returns the response to the call; a plan that waits or is declined, if it did not
 * run.
 */
export async function sendAnswer(
  { client, options, digest }: ConfirmingCall,
  { state, answer }: UserAnswer,
): Promise<object> {
  const end = state.indexOf(":");
  const confirmation = { id: state.slice(0, end), state: state.slice(end + 1), call: digest, answer };
  const { data } = await client.call(plans.confirm_plan, confirmation, options);
  const { plan, response } = data;
  const { id, status, summary, why, confirmable, expires_at } = plan;
  return response ?? { data: { plan: { id, status, summary, why, confirmable, expires_at } } };
}

/** In characters, of each of several texts that a customer may have written. */
const maxText = 200;
/** In characters: more than a message with a list of choices has. */
const maxInput = 8_000;

/** What the user reads. Texts that may come from customers are quoted. */
function describePlan(plan: ShownPlan): string {
  const { summary, input, recipient_count, excluded_count, price, warnings, samples } = plan;
  const { is_undoable, expires_at } = plan;
  const count = recipient_count + excluded_count;
  const excluded = excluded_count === 0 ? "" : `, ${excluded_count} excluded`;
  const lines = [
    `An assistant wants to: ${summary}.`,
    // In JSON, each text is quoted.
    `Input: ${shortenAndCount(JSON.stringify(input), maxInput)}`,
    count > 0 && `Recipients: ${recipient_count}${excluded}.`,
    price && `Price: ${price.amount} ${price.currency}.`,
    ...samples.map((sample) => `- ${describeSample(sample, count === 1 ? sample.text.length : maxText)}`),
    ...warnings.map((warning) => `Warning: ${warning}.`),
    !is_undoable && "It can't be undone.",
    `Do you confirm it? The plan expires at ${expires_at}.`,
  ];
  return lines.flatMap((line) => (typeof line === "string" ? toOneLine(line) : [])).join("\n");
}

/** A line break in a text would let it imitate a line of the question. */
function toOneLine(text: string): string {
  return text.replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, " ");
}

function describeSample(
  { name, to, text, excluded }: ShownPlan["samples"][number],
  maxLength: number,
): string {
  const shownName = name === null ? undefined : JSON.stringify(shortenAndCount(name, maxText));
  const who = [shownName, to].filter((part) => part !== undefined).join(" ");
  return excluded === null
    ? `${who}: ${JSON.stringify(shortenAndCount(text, maxLength))}`
    : `${who}: excluded (${excluded})`;
}
