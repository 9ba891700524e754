/**
 * Requests to the Razorpay API: Basic auth, a time limit, and answers in known shapes only.
 *
 * An inconclusive answer, such as a gateway's error page, is thrown as an error, like a broken connection.
 * Error messages contain no text of the processor except text in its documented error form, and no
 * credentials.
 */
import { z } from "zod";
import { withDeadline } from "../../../time/deadline.ts";
import { fetchJson } from "../../http-client/index.ts";

export interface RazorpaySettings {
  readonly baseUrl: string;
  readonly keyId: string;
  readonly keySecret: string;
  readonly webhookSecret: string;
  /** The limit for one request. */
  readonly timeoutMs?: number;
}

export interface ApiRequest {
  readonly method: "GET" | "POST";
  /** The path after the base URL and its version. */
  readonly path: string;
  readonly body?: Readonly<Record<string, unknown>>;
}

export type ApiAnswer =
  | { readonly outcome: "accepted"; readonly value: unknown }
  /** The request had no effect, and would be refused again. */
  | { readonly outcome: "refused"; readonly reason: string };

const defaultTimeoutMs = 6_000;
const maxAnswerBytes = 2_000_000;

const ErrorAnswer = z.object({
  error: z.object({ code: z.string(), description: z.string().max(500) }),
});

/** @throws Error if the processor could not be reached, or its answer has no known form. */
export async function askRazorpay(
  settings: RazorpaySettings,
  request: ApiRequest,
  signal: AbortSignal,
): Promise<ApiAnswer> {
  const { status, value } = await exchange(settings, request, signal);
  if (status === 401 || status === 403) {
    throw new Error(
      "The payment processor rejected the key: check TIDINGS_RAZORPAY_KEY_ID and TIDINGS_RAZORPAY_KEY_SECRET.",
    );
  }
  if (status >= 200 && status < 300 && value !== undefined) {
    return { outcome: "accepted", value };
  }
  const error = ErrorAnswer.safeParse(value).data?.error;
  if (status >= 400 && status < 500 && status !== 429 && error) {
    return { outcome: "refused", reason: error.description };
  }
  throw new Error(`The payment processor answered ${status} to ${request.method} ${request.path}.`);
}

async function exchange(settings: RazorpaySettings, request: ApiRequest, signal: AbortSignal) {
  const { baseUrl, keyId, keySecret, timeoutMs = defaultTimeoutMs } = settings;
  const { method, path, body } = request;
  const credential = Buffer.from(`${keyId}:${keySecret}`).toString("base64");
  const answer = await withDeadline(timeoutMs, [signal], (deadline) =>
    fetchJson(
      {
        method,
        url: `${baseUrl}/v1${path}`,
        headers: { authorization: `Basic ${credential}` },
        json: body,
        maxBytes: maxAnswerBytes,
      },
      deadline,
    ),
  );
  if (answer.isTooLong) {
    throw new Error(`The payment processor's answer to ${method} ${path} is too long.`);
  }
  return answer;
}
