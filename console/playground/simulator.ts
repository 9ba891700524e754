/** The routes that control the simulated channel; see docs/simulated-channel.md. */
import type { Interactive } from "../../tools/messages/index.ts";
import { type Answer, authorized } from "../service/call.ts";

type SentTemplate = NonNullable<Answer<"get_message">["data"]["template"]>;

interface Choice {
  readonly id: string;
  readonly title: string;
}

/** A message as the phone lists it, in either direction. */
export interface PhoneMessage {
  /** The channel's id. */
  readonly id: string;
  readonly direction: "inbound" | "outbound";
  readonly status: "accepted" | "sent" | "delivered" | "read" | "failed" | "received";
  readonly type: string;
  readonly created_at: string;
  readonly text?: { readonly body: string };
  readonly media?: {
    readonly url: string;
    readonly caption: string | null;
    readonly file_name: string | null;
  };
  readonly interactive?: Interactive;
  /** A readable text of a location or of contact cards. */
  readonly summary?: string;
  readonly template?: Pick<SentTemplate, "header" | "body" | "footer" | "buttons" | "offer">;
  readonly reply?: Choice;
}

/** What the customer sends: exactly one of the contents. */
export interface CustomerMessage {
  readonly from: string;
  readonly to: string;
  readonly name?: string;
  /** A repeat with the same id is the same message. */
  readonly channel_message_id: string;
  readonly reply_to?: string;
  readonly text?: string;
  readonly reply?: Choice;
  readonly media?: {
    readonly type: string;
    readonly url: string;
    readonly caption?: string;
    readonly file_name: string;
  };
}

export interface Faults {
  readonly accept_delay_ms: number;
  readonly receipt_delay_ms: number;
  readonly lost_receipts: number;
  readonly doubled_receipts: number;
  readonly swapped_receipts: number;
  readonly lost_answers: number;
  readonly fetch_media: boolean;
  readonly pricing: {
    readonly category: string | null;
    readonly is_free: boolean;
    readonly share: number;
  } | null;
  readonly failures: readonly {
    readonly code: number;
    readonly share: number;
    readonly to?: string;
  }[];
}

export interface ReviewSettings {
  readonly outcome: "approve" | "reject" | "hold";
  readonly reason: string;
}

export interface ReviewedTemplate {
  readonly external_id: string;
  readonly phone_number: string;
  readonly name: string;
  readonly language: string;
  readonly category: string;
  readonly status: string;
  readonly rejection_reason: string | null;
}

interface Reviews {
  readonly review: ReviewSettings;
  readonly templates: readonly ReviewedTemplate[];
}

interface Decision extends Pick<ReviewedTemplate, "name" | "language" | "phone_number"> {
  readonly outcome: "approve" | "reject" | "pause" | "disable";
  readonly reason?: string;
}

async function send<Data>(method: "GET" | "POST" | "PUT", path: string, json?: object): Promise<Data> {
  const body =
    json === undefined ? {} : { body: JSON.stringify(json), headers: { "content-type": "application/json" } };
  const answer = await authorized(`/simulator${path}`, { method, ...body });
  return ((await answer.json()) as { data: Data }).data; // as docs/simulated-channel.md describes the routes
}

const phonePath = (number: string) => `/phones/${encodeURIComponent(number)}`;
const mostMessages = 100;
const mostTemplates = 50;

export function writeAsCustomer(message: CustomerMessage): Promise<{ readonly conversation_id: string }> {
  return send("POST", "/inbound", message);
}

/** The newest first. */
export function listPhoneMessages(number: string): Promise<readonly PhoneMessage[]> {
  return send("GET", `${phonePath(number)}/messages?limit=${mostMessages}`);
}

export function readAsCustomer(number: string): Promise<unknown> {
  return send("POST", `${phonePath(number)}/read`, {});
}

export function readFaults(): Promise<Faults> {
  return send("GET", "/faults");
}

/** Replaces all faults: what is left out gets its default. */
export function replaceFaults(faults: Partial<Faults>): Promise<Faults> {
  return send("PUT", "/faults", faults);
}

export function readReviews(): Promise<Reviews> {
  return send("GET", `/templates?limit=${mostTemplates}`);
}

export function replaceReviewSettings(settings: ReviewSettings): Promise<unknown> {
  return send("PUT", "/templates", settings);
}

export function decideTemplate(decision: Decision): Promise<unknown> {
  return send("PUT", "/templates", decision);
}
