/**
 * An emulator of the Razorpay API that refuses what Razorpay refuses, and fails as a network does
 * when a test asks for it.
 *
 * It knows orders, payments, captures and refunds. A test pays orders, changes payments, and
 * gets signed webhooks.
 */
import { createHmac, randomBytes } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { type Answer, handle, refuse, type Store, type StoredPayment } from "./razorpay-api.ts";
import { listenerOf } from "./receiver.ts";

export const razorpayKeys = {
  keyId: "rzp_test_tidings",
  keySecret: "EnLs21M47BllR3X8PSFtjtbd",
  webhookSecret: "123456",
} as const;

/**
 * hang: no answer. drop: the connection breaks before the request has an effect. lost: it breaks
 * after the effect. html: a gateway's error page. busy: 429. error: 500 in the documented form. odd:
 * 200 in another form.
 */
export type Fault = "hang" | "drop" | "lost" | "html" | "busy" | "error" | "odd";

export async function startRazorpay(options: Partial<Pick<Store, "knowsUniqueReceipt">> = {}) {
  const store: Store = {
    orders: new Map(),
    payments: new Map(),
    refunds: [],
    knowsUniqueReceipt: true,
    ...options,
  };
  const faults: { readonly request: string; readonly fault: Fault }[] = [];
  const requests: string[] = [];
  const answerRequest = listenerOf(async (request, response) => {
    const line = `${request.method} ${new URL(request.url ?? "", "http://x").pathname}`;
    requests.push(line);
    const index = faults.findIndex((one) => line.startsWith(one.request));
    const [found] = index < 0 ? [] : faults.splice(index, 1);
    const body = await readBody(request);
    const answer = () => (isAuthorized(request) ? handle(store, request, body) : unauthorized);
    respond(response, found?.fault, answer);
  });
  const server = createServer(answerRequest);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo; // it listens on a TCP port
  const find = (payment_id: string): StoredPayment => {
    const payment = store.payments.get(payment_id);
    if (!payment) {
      throw new Error(`there is no payment ${payment_id}`);
    }
    return payment;
  };
  return {
    ...store,
    baseUrl: `http://127.0.0.1:${port}`,
    /** The settings of a service that uses it. */
    env: {
      TIDINGS_RAZORPAY_KEY_ID: razorpayKeys.keyId,
      TIDINGS_RAZORPAY_KEY_SECRET: razorpayKeys.keySecret,
      TIDINGS_RAZORPAY_WEBHOOK_SECRET: razorpayKeys.webhookSecret,
      TIDINGS_RAZORPAY_BASE_URL: `http://127.0.0.1:${port}`,
    },
    /** Method and path of each request. */
    requests,
    countRequests: (line: string) => requests.filter((one) => one.startsWith(line)).length,
    /** The next requests that begin with this method and path fail. */
    failNext(request: string, ...kinds: Fault[]) {
      faults.push(...kinds.map((fault) => ({ request, fault })));
    },
    /** Makes a payment of an order, and returns what checkout returns. */
    pay(order_id: string, changes: Partial<StoredPayment> = {}) {
      const order = store.orders.get(order_id);
      const id = changes.id ?? `pay_${randomBytes(7).toString("hex")}`;
      store.payments.set(id, {
        id,
        entity: "payment",
        order_id,
        amount: order?.amount ?? 0,
        currency: order?.currency ?? "INR",
        status: "captured",
        captured: (changes.status ?? "captured") === "captured",
        amount_refunded: 0,
        email: "payer@example.com",
        contact: "+919876543210",
        method: "card",
        created_at: Math.floor(Date.now() / 1000),
        ...changes,
      });
      return signCheckout(order_id, id);
    },
    change(payment_id: string, changes: Partial<StoredPayment>) {
      Object.assign(find(payment_id), changes);
    },
    /** A request to the webhook about a payment as it is now. */
    webhook: (event: string, payment_id: string, id?: string) => signWebhook(event, find(payment_id), id),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

export type Razorpay = Awaited<ReturnType<typeof startRazorpay>>;

export function signCheckout(processor_order_id: string, processor_payment_id: string) {
  const message = `${processor_order_id}|${processor_payment_id}`;
  const processor_signature = hmac(razorpayKeys.keySecret, message);
  return { processor_order_id, processor_payment_id, processor_signature };
}

function signWebhook(event: string, payment: StoredPayment, id = `evt_${randomBytes(7).toString("hex")}`) {
  const refund = { entity: { id: "rfnd_1", payment_id: payment.id } };
  const entities = { payment: { entity: payment }, ...(event.startsWith("refund.") ? { refund } : {}) };
  const order = event.startsWith("order.") ? { order: { entity: { id: payment.order_id } } } : {};
  const payload = { ...entities, ...order };
  const body = JSON.stringify({ entity: "event", account_id: "acc_1", event, payload, created_at: 1 });
  return { body, headers: { "x-razorpay-event-id": id, "x-razorpay-signature": signBody(body) } };
}

export const signBody = (body: string) => hmac(razorpayKeys.webhookSecret, body);

function hmac(secret: string, message: string): string {
  return createHmac("sha256", secret).update(message).digest("hex");
}

function isAuthorized({ headers }: IncomingMessage): boolean {
  const { keyId, keySecret } = razorpayKeys;
  return headers.authorization === `Basic ${Buffer.from(`${keyId}:${keySecret}`).toString("base64")}`;
}

const unauthorized = { ...refuse("Authentication failed"), status: 401 };

async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) {
    chunks.push(Buffer.from(chunk));
  }
  return Buffer.concat(chunks).toString();
}

const gateway = "<html><body><h1>502 Bad Gateway</h1></body></html>";

function respond(response: ServerResponse, fault: Fault | undefined, answer: () => Answer): void {
  const json = ({ status, body }: Answer) =>
    response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
  const server = { code: "SERVER_ERROR", description: "We are facing some trouble" };
  const kinds: Readonly<Record<Fault, () => void>> = {
    hang: () => {},
    drop: () => response.destroy(),
    lost: () => {
      answer();
      response.destroy();
    },
    html: () => response.writeHead(502, { "content-type": "text/html" }).end(gateway),
    busy: () => json({ ...refuse("Request rate limit exceeded"), status: 429 }),
    error: () => json({ status: 500, body: { error: server } }),
    odd: () => json({ status: 200, body: { id: 1 } }),
  };
  if (fault === undefined) {
    json(answer());
  } else {
    kinds[fault]();
  }
}
