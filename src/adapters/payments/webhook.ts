/** The processor's requests to the webhook: their signature, and the payments that they name. */
import { createHash } from "node:crypto";
import { z } from "zod";
import type { PaymentEvent, WebhookRequest } from "../../ports/payments.ts";
import { isSignature, sign } from "./signature.ts";

const signatureHeader = "x-razorpay-signature";
const idHeader = "x-razorpay-event-id";

/** The members that are used. Others, such as e-mail addresses and cards, are never read. */
const WebhookBody = z.object({
  event: z.string().max(100),
  payload: z.object({
    payment: z.object({ entity: z.object({ id: z.string(), order_id: z.string().nullish() }) }).optional(),
    order: z.object({ entity: z.object({ id: z.string() }) }).optional(),
    refund: z.object({ entity: z.object({ payment_id: z.string() }) }).optional(),
  }),
});
export type WebhookBody = z.infer<typeof WebhookBody>;

export function readWebhook(
  secret: string,
  { headers, body }: WebhookRequest,
): PaymentEvent | "forged" | undefined {
  if (!isSignature(secret, body, headers[signatureHeader] ?? "")) {
    return "forged";
  }
  const parsed = WebhookBody.safeParse(parseJson(body));
  if (!parsed.success) {
    return undefined;
  }
  const { event, payload } = parsed.data;
  const { payment, order, refund } = payload;
  const order_id = order?.entity.id ?? payment?.entity.order_id ?? null;
  const payment_id = payment?.entity.id ?? refund?.entity.payment_id ?? null;
  // Repeated requests without an id have the same body.
  const id = headers[idHeader] || createHash("sha256").update(body).digest("hex");
  return order_id === null && payment_id === null
    ? undefined
    : { id: id.slice(0, 255), type: event, order_id, payment_id };
}

/** Writes the request that the processor would send. */
export function writeWebhook(secret: string, id: string, content: WebhookBody): WebhookRequest {
  const body = Buffer.from(JSON.stringify({ entity: "event", ...content }));
  return { headers: { [signatureHeader]: sign(secret, body), [idHeader]: id }, body };
}

function parseJson(body: Uint8Array): unknown {
  try {
    return JSON.parse(Buffer.from(body).toString("utf8"));
  } catch {
    return undefined;
  }
}
