/**
 * A webhook receiver written from the specification's text alone: it keeps the deliveries
 * whose signature is right.
 */
import { createHmac, timingSafeEqual } from "node:crypto";
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from "node:http";
import { startReceiver } from "./receiver.ts";

/** One received delivery. */
export interface ReceivedWebhook {
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  readonly event: { id: string; type: string; organization_id: string; created_at: string; data: Data };
}

type Data = Readonly<Record<string, unknown>>;

export interface ReceiverResponse {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  /** Never answers. */
  readonly hangs?: boolean;
}

export interface WebhookReceiver extends AsyncDisposable {
  readonly url: string;
  readonly received: ReceivedWebhook[];
  /** The number of deliveries with a wrong signature. */
  readonly forged: number;
  /** As shown when the webhook was created; until it is set, every delivery counts as forged. */
  secret: string;
  respond: (delivery: ReceivedWebhook) => ReceiverResponse;
}

export async function startWebhookReceiver(): Promise<WebhookReceiver> {
  const state = {
    secret: "",
    received: [] as ReceivedWebhook[],
    forged: 0,
    respond: (): ReceiverResponse => ({}),
  };
  const receive = async (request: IncomingMessage, response: ServerResponse) => {
    const raw = Buffer.concat(await request.toArray());
    if (request.method !== "POST" || !isAuthentic(raw, request.headers, state.secret)) {
      state.forged += 1;
      response.writeHead(401).end();
      return;
    }
    const body = raw.toString("utf8");
    const delivery = { headers: request.headers, body, event: JSON.parse(body) as ReceivedWebhook["event"] };
    state.received.push(delivery);
    const { status = 200, headers = {}, body: answer = "ok", hangs } = receiver.respond(delivery);
    if (!hangs) {
      response.writeHead(status, headers).end(answer);
    }
  };
  const server = await startReceiver(receive);
  const receiver: WebhookReceiver = Object.assign(state, {
    url: `http://127.0.0.1:${server.port}/hooks`,
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  });
  return receiver;
}

/** X-Webhook-Signature: lowercase hex of HMAC-SHA256 over the raw body, keyed with the secret. */
function isAuthentic(raw: Buffer, headers: IncomingHttpHeaders, secret: string): boolean {
  const signature = Buffer.from(String(headers["x-webhook-signature"]));
  const expected = Buffer.from(createHmac("sha256", secret).update(raw).digest("hex"));
  return signature.length === expected.length && timingSafeEqual(signature, expected);
}
