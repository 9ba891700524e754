/**
 * Sets up an account at Meta, step by step: each step checks what is there, changes what is missing, and says
 * what to do if it fails. A step whose condition failed is skipped. Safe to repeat.
 */
import type { SetUpRequest, SetUpResult, SetUpStep } from "../../../../ports/channel/account.ts";
import { toWhatsAppAccount } from "../account.ts";
import type { WhatsAppSettings } from "../http.ts";
import { checkToken, subscribeWebhook } from "./meta-app.ts";
import { checkBusinessAccount, checkPhoneNumber, registerNumber, subscribeAccount } from "./number.ts";
import { runStep, type SetUp, type StepResult } from "./step.ts";

export async function setUpAccount(
  settings: WhatsAppSettings,
  { account: stored, address: phone_number, ...request }: SetUpRequest,
  signal: AbortSignal,
): Promise<SetUpResult> {
  const account = toWhatsAppAccount(stored);
  const setUp = { ...request, account, phone_number, api: { settings, credentials: account, signal } };
  const steps: SetUpStep[] = [];
  const add = (name: string, { detail, ...result }: StepResult) => {
    steps.push({ name, ...result, detail: withoutSecrets(setUp, detail) });
    return result.state !== "failed" && result.state !== "skipped";
  };
  const run = async (name: string, isPossible: boolean, step: () => Promise<StepResult>) =>
    add(name, isPossible ? await runStep(step) : skipped);

  let token: StepResult = skipped;
  const hasApp = await run("app", true, async () => {
    const checked = await checkToken(setUp);
    token = checked.token ?? skipped;
    return checked.app;
  });
  const hasToken = add("token", token);
  let isRegistered = false;
  const hasNumber = await run("number", hasToken, async () => {
    const checked = await checkPhoneNumber(setUp);
    isRegistered = checked.isRegistered;
    return checked.result;
  });
  const hasAccount = await run("account", hasToken, () => checkBusinessAccount(setUp));
  await run("webhook", hasApp, () => subscribeWebhook(setUp));
  await run("subscription", hasAccount, () => subscribeAccount(setUp));
  await run("registration", hasNumber, () => registerNumber(setUp, isRegistered));
  return { steps };
}

const skipped: StepResult = {
  state: "skipped",
  detail: "It needs a step before, which failed.",
  fix: null,
};

/** Meta's texts could repeat what was sent. */
function withoutSecrets({ account, pin }: SetUp, text: string): string {
  return [account.access_token, account.app_secret, account.verify_token, pin]
    .filter((secret) => secret !== undefined)
    .reduce((shown, secret) => shown.replaceAll(secret, "…"), text);
}
