/** Prepares payloads that others have captured for an inbox of a test, and sends what they are about. */
import type { TestApp } from "./app.ts";
import {
  credentials,
  type GraphApi,
  type Inbox,
  openWindow,
  postWebhook,
  sendText,
  whatsAppNumber,
} from "./whatsapp.ts";
import type { Json } from "./whatsapp-emulator.ts";

interface CapturedTarget {
  readonly graph: GraphApi;
  readonly app: TestApp;
  readonly inbox: Inbox;
}

/**
 * A captured payload with the ids of our number and account. The `repetition`, of three digits, gives it
 * message ids and people that no other payload has.
 */
export function adaptPayload(payload: unknown, repetition: number): Json {
  const text = JSON.stringify(payload)
    .replace(/"phone_number_id":"\d+"/g, `"phone_number_id":"${credentials.phone_number_id}"`)
    .replace(/"display_phone_number":"\d+"/g, `"display_phone_number":"${whatsAppNumber.slice(1)}"`)
    .replace(/"context":\{"from":"\d+"/g, `"context":{"from":"${whatsAppNumber.slice(1)}"`)
    .replace(/"(id|message_id)":"(wamid\.[^"]+)"/g, `"$1":"$2${repetition}"`)
    .replace(/\b(1\d{7})\d{3}\b/g, `$1${repetition}`)
    .replace(/\bUS\.\d+/g, `$&${repetition}`);
  return JSON.parse(text);
}

/** Posts a signed payload, and runs the jobs. @returns the status of the response */
export async function postPayload({ app, inbox }: CapturedTarget, payload: Json): Promise<number> {
  const { status } = await postWebhook(app, inbox, { body: JSON.stringify(payload) });
  await app.runDueJobs();
  return status;
}

/** Sends the message that a payload is about, if there is one. */
export async function sendSubject({ graph, app, inbox }: CapturedTarget, payload: Json) {
  const { messages: [message] = [], statuses: [status] = [] } = payload.entry[0].changes[0].value;
  const id = message?.context?.id ?? message?.reaction?.message_id ?? status?.id;
  if (id === undefined) {
    return undefined;
  }
  const person = message?.from ?? status.recipient_id;
  await openWindow(app, inbox, person);
  const usual = graph.routes["POST messages"];
  graph.routes["POST messages"] = () => ({ body: { messages: [{ id }] } });
  const sent = await sendText(app, inbox, `+${person}`);
  graph.routes["POST messages"] = usual ?? (() => ({}));
  return sent;
}
