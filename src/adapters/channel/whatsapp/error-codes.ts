/**
 * The error codes of the Cloud API, and what follows from each.
 *
 * The codes and titles are facts from Meta's page of error codes (developers.facebook.com, WhatsApp,
 * Cloud API, support, error codes; December 2025, and the changelog of 2026). What follows from a code
 * is our own decision.
 */
import type { ChannelFailure } from "../../../ports/channel/channel.ts";
import { reasonOf } from "../failure-reasons.ts";
import type { GraphError } from "./http.ts";

export type Reaction =
  /** The message is not accepted, now or later. */
  | "refuse"
  /** The template has another status than this service knows. */
  | "sync_template"
  /** Try again later. */
  | "wait"
  /** Try again later, a few times only. */
  | "wait_briefly"
  /** Too many messages to this person. */
  | "wait_for_recipient"
  /** The account or the number can't send anything. */
  | "stop";

interface Meaning {
  readonly reaction: Reaction;
  readonly title: string;
  /** Unless the API says when. */
  readonly waitMs?: number;
}

const refuse = (title: string): Meaning => ({ reaction: "refuse", title });
const stop = (title: string): Meaning => ({ reaction: "stop", title });
const wait = (title: string, waitMs = 5_000): Meaning => ({ reaction: "wait", title, waitMs });
const briefly = (title: string): Meaning => ({ reaction: "wait_briefly", title, waitMs: 5_000 });
const sync = (title: string): Meaning => ({ reaction: "sync_template", title });

const minute = 60_000;

export const errorCodes: Readonly<Record<number, Meaning>> = {
  0: stop("The access token can't be used"),
  1: briefly("Unknown error of the API"),
  2: wait("The service is down for a short time"),
  3: stop("The app lacks a capability or permission"),
  4: wait("The app's limit of requests is reached", minute),
  10: stop("Permission denied"),
  33: stop("The phone number does not exist"),
  100: refuse("A parameter is invalid"),
  190: stop("The access token has expired"),
  368: stop("The account is blocked for violating a policy"),
  80007: wait("The account's limit of requests is reached", minute),
  130429: wait("The number's throughput is reached"),
  130472: refuse("The recipient is part of a marketing experiment"),
  130497: refuse("The account may not write to people in this country"),
  131000: briefly("Something went wrong"),
  131005: stop("Access denied"),
  131008: refuse("A required parameter is missing"),
  131009: refuse("The value of a parameter is invalid"),
  131016: wait("The service is not available", 30_000),
  131021: refuse("The recipient is the sender"),
  131026: refuse("The message can't be delivered"),
  131030: refuse("The recipient is not in the test number's list"),
  131031: stop("The account is locked"),
  131037: stop("The display name is not approved"),
  131042: stop("The business account has a problem with its payment"),
  131045: stop("The phone number is not registered correctly"),
  131047: refuse("The 24-hour window is closed"),
  131048: stop("Too many people blocked or reported the number"),
  131049: refuse("The recipient has reached the limit of marketing messages"),
  131050: refuse("The recipient opted out of marketing"),
  131051: refuse("The type of the message is not supported"),
  131053: refuse("The media could not be uploaded"),
  131055: refuse("The method is not allowed"),
  131056: { reaction: "wait_for_recipient", title: "Too many messages to this recipient" },
  131057: wait("The account is in maintenance", minute),
  131062: refuse("This message needs the recipient's phone number"),
  131063: stop("Marketing templates are disabled for this account"),
  131064: stop("Sending is limited because templates are in the wrong category"),
  132000: refuse("The number of the template's values is wrong"),
  132001: sync("The template does not exist in this language or is not approved"),
  132005: refuse("The translated text is too long"),
  132007: refuse("The template's text violates a policy"),
  132008: refuse("A value of the template is invalid"),
  132012: refuse("The format of a template's value is wrong"),
  132015: sync("The template is paused"),
  132016: sync("The template is disabled"),
  132068: refuse("The flow is blocked"),
  132069: wait("The flow is throttled", 6 * minute),
  133004: wait("The server is not available for a short time", 30_000),
  133006: stop("The phone number must be verified again"),
  133010: stop("The phone number is not registered"),
  133015: wait("The phone number was deleted a short time ago", 5 * minute),
  133016: refuse("Too many attempts to register the number"),
  134100: refuse("Only marketing messages are supported"),
  134101: wait("The template is still being synced", minute),
  134102: refuse("The template is not available"),
  135000: refuse("The message can't be sent"),
  137000: refuse("The recipient's identity has changed"),
};

/** Receipts have no more of an error than its code. */
type KnownError = Pick<GraphError, "code" | "subcode" | "isTransient"> & Partial<Pick<GraphError, "title">>;

export function reactionTo(error: KnownError): {
  readonly reaction: Reaction;
  readonly waitMs: number;
} {
  const unknown: Reaction = error.isTransient ? "wait_briefly" : "refuse";
  const { reaction, waitMs = 5_000 } =
    isUnknownObject(error) || isMissingPermission(error) || isInvalidProof(error)
      ? stop("")
      : (errorCodes[error.code] ?? { reaction: unknown });
  return { reaction, waitMs };
}

/** The id does not exist, or the token may not read it. */
export function isUnknownObject({ code, subcode }: Pick<GraphError, "code" | "subcode">): boolean {
  return code === 33 || (code === 100 && subcode === 33);
}

/** The proof of the app's secret is wrong or missing. It has the code of any invalid parameter. */
export function isInvalidProof({ code, title = "" }: Pick<KnownError, "code" | "title">): boolean {
  return code === 100 && title.includes("appsecret_proof");
}

/** Codes 200 to 299 are permissions. */
export function isMissingPermission({ code }: Pick<GraphError, "code">): boolean {
  return code === 3 || code === 10 || (code >= 200 && code < 300);
}

export function toFailure({
  code,
  title,
  detail,
}: Pick<GraphError, "code" | "title" | "detail">): ChannelFailure {
  return {
    reason: reasonOf(code),
    channel_code: code,
    title: title || (errorCodes[code]?.title ?? "Error of WhatsApp"),
    detail,
  };
}
