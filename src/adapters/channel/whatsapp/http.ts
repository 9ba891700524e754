/**
 * Requests to the Graph API: the account's token, a time limit, no redirects, and answers of limited length.
 *
 * Each request has a proof that its sender knows the app's secret, so that the app may require one. The
 * token is sent to the configured host alone. An answer that says nothing certain, such as a gateway's error
 * page, is thrown as an error, like a broken connection. Error messages contain no text of the API and no
 * credentials.
 */
import { createHmac } from "node:crypto";
import { Readable } from "node:stream";
import { z } from "zod";
import { withDeadline } from "../../../time/deadline.ts";
import { fetchJson, type HttpHeaders, parseForm, readRetryAfter } from "../../http-client/index.ts";
import type { WhatsAppAccount } from "./account.ts";

export interface WhatsAppSettings {
  /** `https://graph.facebook.com` or an emulator, without a slash at its end. */
  readonly baseUrl: string;
  /** For example v26.0. */
  readonly version: string;
  /** Hosts from which received files are fetched with the token, besides the host of the base URL. */
  readonly mediaHosts: readonly string[];
  /** For one request. */
  readonly timeoutMs?: number;
}

/** The access token of a request, and the secret of its app. */
export type GraphCredentials = Pick<WhatsAppAccount, "access_token" | "app_secret">;

/** What every request needs. */
export interface Api {
  readonly settings: WhatsAppSettings;
  readonly credentials: GraphCredentials;
  /** Undefined: only the time limit ends a request. */
  readonly signal?: AbortSignal;
}

export interface GraphRequest {
  readonly method: "GET" | "POST" | "DELETE";
  /** After the base URL and its version, with its query. */
  readonly path: string;
  readonly json?: unknown;
  readonly body?: string | Uint8Array | AsyncIterable<Uint8Array>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly timeoutMs?: number;
  /** Called right before the request is written to its connection. */
  readonly onWrite?: () => void;
}

export interface GraphError {
  readonly status: number;
  readonly code: number;
  readonly subcode: number | null;
  readonly title: string;
  readonly detail: string | null;
  /** What Meta writes for the developer's users, for example why a template is refused. */
  readonly explanation: string | null;
  readonly isTransient: boolean;
  /** When the API says that a retry may succeed. */
  readonly retryAfterMs: number | null;
}

export type GraphAnswer =
  | { readonly outcome: "accepted"; readonly value: unknown }
  /** The request had no effect. */
  | { readonly outcome: "rejected"; readonly error: GraphError };

const defaultTimeoutMs = 8_000;
const maxAnswerBytes = 4_000_000;
/** Answers without an error in a known form that say that the request had no effect. */
const unprocessed: Readonly<Record<number, { readonly code: number; readonly title: string }>> = {
  429: { code: 4, title: "Too many requests" },
  503: { code: 2, title: "The service is down for a short time" },
};

const ErrorAnswer = z.object({
  error: z.object({
    message: z.string().default(""),
    code: z.int(),
    error_subcode: z.int().nullish(),
    is_transient: z.boolean().nullish(),
    error_user_msg: z.string().nullish(),
    error_data: z.object({ details: z.string().nullish() }).nullish().catch(null),
  }),
});

/** @throws Error if the API could not be asked, or if its answer is of no known form. */
export async function askGraph(api: Api, request: GraphRequest): Promise<GraphAnswer> {
  const { method, path } = request;
  const { status, headers, value } = await exchange(api, request);
  if (status >= 200 && status < 300 && value !== undefined) {
    return { outcome: "accepted", value };
  }
  const error = ErrorAnswer.safeParse(value).data?.error;
  const retryAfterMs = findRetryAfter(headers);
  if (error && status >= 400) {
    const { message, code, error_subcode: subcode, error_data, error_user_msg, is_transient } = error;
    const texts = { title: shorten(message), detail: shorten(error_data?.details ?? null) };
    const more = { explanation: shorten(error_user_msg ?? null), isTransient: is_transient === true };
    return {
      outcome: "rejected",
      error: { status, code, subcode: subcode ?? null, ...texts, ...more, retryAfterMs },
    };
  }
  const known = unprocessed[status];
  // An error page without a time for the retry does not say whether the API got the request.
  if (known && (status === 429 || readRetryAfter(headers) !== undefined)) {
    const more = { subcode: null, detail: null, explanation: null, isTransient: true };
    return { outcome: "rejected", error: { status, ...known, ...more, retryAfterMs } };
  }
  throw new UnknownAnswerError(status, `WhatsApp answered ${status} to ${method} ${withoutQuery(path)}.`);
}

/** An answer that says nothing certain, such as a gateway's error page. */
export class UnknownAnswerError extends Error {
  override readonly name = "UnknownAnswerError";
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

async function exchange({ settings, credentials, signal }: Api, request: GraphRequest) {
  const { method, path, json, timeoutMs = settings.timeoutMs ?? defaultTimeoutMs } = request;
  const url = `${settings.baseUrl}/${settings.version}${path}`;
  const answer = await withDeadline(timeoutMs, signal ? [signal] : [], (deadline) =>
    fetchJson(
      {
        method,
        url: `${url}${path.includes("?") ? "&" : "?"}appsecret_proof=${proofOf(credentials)}`,
        headers: { authorization: `Bearer ${credentials.access_token}`, ...request.headers },
        json,
        body: toBody(request.body),
        onWrite: request.onWrite,
        maxBytes: maxAnswerBytes,
      },
      deadline,
    ),
  );
  if (answer.isTooLong) {
    throw tooLong();
  }
  return answer;
}

function proofOf({ access_token, app_secret }: GraphCredentials): string {
  return createHmac("sha256", app_secret).update(access_token).digest("hex");
}

export const tooLong = () => new Error("WhatsApp's answer is too long.");

function toBody(body: GraphRequest["body"]) {
  return body === undefined || typeof body === "string" || body instanceof Uint8Array
    ? body
    : Readable.from(body, { objectMode: false });
}

const unsentCodes: readonly unknown[] = [
  "ECONNREFUSED",
  "ENOTFOUND",
  "EAI_AGAIN",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "UND_ERR_CONNECT_TIMEOUT",
];

/** Whether there was no connection, so that the request was certainly not sent. */
export function isUnsent(error: unknown): boolean {
  return unsentCodes.includes(codeOf(error));
}

/** What `isUnsent` means, for people. */
export const unsentTitle = "WhatsApp can't be reached";

const lateCodes: readonly unknown[] = ["UND_ERR_HEADERS_TIMEOUT", "UND_ERR_BODY_TIMEOUT"];
const brokenCodes: readonly unknown[] = ["ECONNRESET", "EPIPE", "ETIMEDOUT", "UND_ERR_SOCKET"];

/** Why a request that may have been sent has no valid answer; undefined for an error of our own. */
export function describeNoAnswer(error: unknown): string | undefined {
  if (error instanceof UnknownAnswerError) {
    return `WhatsApp answered with the HTTP status ${error.status}`;
  }
  const code = codeOf(error);
  if (lateCodes.includes(code) || (error instanceof Error && error.name === "TimeoutError")) {
    return "WhatsApp did not answer in time";
  }
  return brokenCodes.includes(code) ? "The connection to WhatsApp broke" : undefined;
}

/** Of an error of the network; undefined for an error of our own. */
export function codeOf(error: unknown): unknown {
  return error instanceof Error && "code" in error ? error.code : undefined;
}

/** `Retry-After`, else the use of a business, in minutes. */
function findRetryAfter(headers: HttpHeaders): number | null {
  const retryAfterMs = readRetryAfter(headers) ?? 0;
  if (retryAfterMs > 0) {
    return retryAfterMs;
  }
  const use = headers["x-business-use-case-usage"];
  const minutes = [...String(use ?? "").matchAll(/"estimated_time_to_regain_access"\s*:\s*(\d{1,6})/g)];
  const longest = Math.max(0, ...minutes.map(([, digits]) => Number(digits)));
  return longest > 0 ? longest * 60_000 : null;
}

const maxTextLength = 500;

function shorten<Text extends string | null>(text: Text) {
  const shown = text
    ?.replace(/\p{Cc}/gu, " ")
    .slice(0, maxTextLength)
    .toWellFormed();
  // A text stays a text, and null stays null.
  return (shown ?? null) as Text;
}

function withoutQuery(path: string): string {
  return path.split("?")[0] ?? "";
}

/** @throws Error that names the members of another form, without their values. */
export function parseAnswer<Schema extends z.ZodType>(schema: Schema, value: unknown): z.output<Schema> {
  return parseForm("WhatsApp", schema, value);
}

/** An id as a part of a path. @throws Error for characters that no id of the API has. */
export function segment(id: string): string {
  if (!/^[\w-]+$/.test(id)) {
    throw new Error("An id has characters that no id of WhatsApp has.");
  }
  return id;
}
