/** The registration of a number for the Cloud API, which sets or checks its PIN. */
import { GraphError } from "../contract/graph-error.ts";
import { requireSchema } from "../contract/validate.ts";
import { type Answer, json } from "../http/answer.ts";
import type { Phone } from "../state/store.ts";
import type { GraphRequest } from "./request.ts";

/** A registered number may be registered again, by its PIN. @throws GraphError 133005 for another PIN */
export async function registerPhone({ node: phone, readJson }: GraphRequest<Phone>): Promise<Answer> {
  const body = await readJson();
  requireSchema("WhatsAppBusinessPhoneNumberRegistrationRequest", body);
  if (phone.pin !== null && phone.pin !== body.pin) {
    throw new GraphError(133005);
  }
  phone.pin = String(body.pin);
  phone.status = phone.status === "DISCONNECTED" ? "CONNECTED" : phone.status;
  return json({ success: true });
}
