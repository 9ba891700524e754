/** The steps of the set-up of a number and its account: what they are, subscription, registration. */
import { z } from "zod";
import { explainNumber, findNumber } from "../connect.ts";
import type { WhatsAppBusinessPhoneNumberRegistrationRequest as Registration } from "../contract.ts";
import { isUnknownObject } from "../error-codes.ts";
import { askGraph, parseAnswer, segment } from "../http.ts";
import { changed, failed, newToken, ok, rejected, type SetUp, type StepResult } from "./step.ts";

const PhoneNumber = z.object({
  display_phone_number: z.string(),
  status: z.string().nullish(),
  platform_type: z.string().nullish(),
});

interface NumberStep {
  readonly result: StepResult;
  readonly isRegistered: boolean;
}

const otherIds =
  "Compare the ids with WhatsApp → API setup in the app's dashboard, and send the credentials again.";

/** The token can read the number, and it is the inbox's. */
export async function checkPhoneNumber({ account, phone_number, api }: SetUp): Promise<NumberStep> {
  const path = `/${segment(account.phone_number_id)}?fields=display_phone_number,status,platform_type`;
  const answer = await askGraph(api, { method: "GET", path });
  if (answer.outcome === "rejected") {
    const result = isUnknownObject(answer.error)
      ? failed("The access token can't read a phone number with this phone_number_id.", otherIds)
      : rejected(answer.error, otherIds);
    return { result, isRegistered: false };
  }
  const { display_phone_number, status, platform_type } = parseAnswer(PhoneNumber, answer.value);
  const other = explainNumber(display_phone_number, phone_number);
  const isRegistered = platform_type === "CLOUD_API" && !unregistered.includes(status ?? "");
  return {
    result: other
      ? failed(`phone_number_id: ${other.reason}`, otherIds)
      : ok(`The number is ${display_phone_number}.`),
    isRegistered,
  };
}

const unregistered = ["DELETED", "DISCONNECTED", "MIGRATED", "PENDING", "UNVERIFIED"];

/** The account has the number. */
export async function checkBusinessAccount({ account, api }: SetUp): Promise<StepResult> {
  const found = await findNumber(api, account);
  if (found.outcome === "rejected") {
    return isUnknownObject(found.error)
      ? failed("The access token can't read a WhatsApp Business Account with this waba_id.", otherIds)
      : rejected(found.error, otherIds);
  }
  return found.outcome === "found"
    ? ok("The WhatsApp Business Account has the number.")
    : failed("The WhatsApp Business Account has no phone number with this phone_number_id.", otherIds);
}

const SubscribedApps = z.object({
  data: z.array(z.object({ whatsapp_business_api_data: z.object({ id: z.string() }) })),
});

/** The app gets the reports of the account. */
export async function subscribeAccount({ account, api }: SetUp): Promise<StepResult> {
  const path = `/${segment(account.waba_id)}/subscribed_apps`;
  const listed = await askGraph(api, { method: "GET", path });
  if (listed.outcome === "rejected") {
    return rejected(listed.error, newToken);
  }
  const apps = parseAnswer(SubscribedApps, listed.value).data;
  if (apps.some(({ whatsapp_business_api_data: { id } }) => id === account.app_id)) {
    return ok("The app is subscribed to the WhatsApp Business Account.");
  }
  const answer = await askGraph(api, { method: "POST", path });
  return answer.outcome === "rejected"
    ? rejected(answer.error, newToken)
    : changed("The app is now subscribed to the WhatsApp Business Account.");
}

const registrationErrors: Readonly<Record<number, readonly [detail: string, fix: string]>> = {
  133005: [
    "The PIN is not the PIN of the number's two-step verification.",
    "Send the PIN that was set before, or set another one in WhatsApp Manager, under the number's two-step verification.",
  ],
  133006: [
    "The number must be verified again.",
    "Verify it in WhatsApp Manager by a text message or a call, and repeat this.",
  ],
  133008: ["Too many wrong PINs were sent.", "Wait as long as WhatsApp Manager says, and repeat this."],
  133009: ["PINs were sent too quickly.", "Wait a few minutes, and repeat this."],
  133015: ["The number was deleted a short time ago.", "Wait 5 minutes, and repeat this."],
  133016: [
    "The number was registered too often: Meta allows 10 attempts in 72 hours.",
    "Wait until 72 hours after the first attempt, and repeat this.",
  ],
};

/**
 * A registered number is not registered again: Meta counts the attempts, and a number that the WhatsApp
 * Business app uses too has no PIN of its own.
 */
export async function registerNumber(
  { account, pin, api }: SetUp,
  isRegistered: boolean,
): Promise<StepResult> {
  if (isRegistered) {
    return ok("The number is registered for the Cloud API.");
  }
  if (pin === undefined) {
    return failed(
      "The number is not registered for the Cloud API.",
      "Repeat it with pin: the 6 digits of the number's two-step verification, or 6 new ones if it has none.",
    );
  }
  const json: Registration = { messaging_product: "whatsapp", pin };
  const path = `/${segment(account.phone_number_id)}/register`;
  const answer = await askGraph(api, { method: "POST", path, json, timeoutMs: 20_000 });
  if (answer.outcome === "accepted") {
    return changed("The number is now registered for the Cloud API, with this PIN.");
  }
  const known = registrationErrors[answer.error.code];
  return known
    ? failed(...known)
    : rejected(answer.error, "Register the number in WhatsApp Manager, and repeat this.");
}
