/** A step of the set-up at Meta: how it ends, also if Meta rejects a request or does not answer. */
import type { SetUpStep } from "../../../../ports/channel/account.ts";
import type { WhatsAppAccount } from "../account.ts";
import { isInvalidProof, isMissingPermission, reactionTo } from "../error-codes.ts";
import { type Api, describeNoAnswer, type GraphError, isUnsent, unsentTitle } from "../http.ts";

export interface SetUp {
  readonly account: WhatsAppAccount;
  /** The inbox's number, E.164. */
  readonly phone_number: string;
  /** Where Meta is to report; null if the service has no public address. */
  readonly callback_url: string | null;
  /** The addresses of the organization's other inboxes, to which the app may report as well. */
  readonly other_callback_urls: readonly string[];
  readonly replacesCallback: boolean;
  readonly pin: string | undefined;
  /** Requests with the account's access token. */
  readonly api: Api;
}

export type StepResult = Pick<SetUpStep, "state" | "detail" | "fix">;

export const ok = (detail: string): StepResult => ({ state: "ok", detail, fix: null });
export const changed = (detail: string): StepResult => ({ state: "changed", detail, fix: null });
export const failed = (detail: string, fix: string): StepResult => ({ state: "failed", detail, fix });

const tryAgain = "Try again in a minute.";

/** Runs a step. @throws an error of our own. */
export async function runStep(run: () => Promise<StepResult>): Promise<StepResult> {
  try {
    return await run();
  } catch (error) {
    const reason = isUnsent(error) ? unsentTitle : describeNoAnswer(error);
    if (reason === undefined) {
      throw error;
    }
    return failed(`${reason}.`, tryAgain);
  }
}

/** The result after a request that Meta rejected. */
export function rejected(error: GraphError, fix: string): StepResult {
  if (reactionTo(error).reaction.startsWith("wait")) {
    return failed("Meta is busy, or a limit of requests is reached.", tryAgain);
  }
  if (isInvalidProof(error)) {
    return failed(
      "The app secret is not the secret of the access token's app.",
      "Send the credentials again with the secret under App settings → Basic.",
    );
  }
  // Meta repeats parts of tokens in the texts of this code.
  if (error.code === 190) {
    return failed("Meta does not accept the access token.", newToken);
  }
  return isMissingPermission(error)
    ? failed(`The access token lacks a permission. ${describeError(error)}`, newToken)
    : failed(describeError(error), fix);
}

export const newToken =
  "Generate a token of a system user with whatsapp_business_management and whatsapp_business_messaging that does not expire, and send the credentials again.";

export function describeError({ explanation, title, detail }: GraphError): string {
  const text = explanation ?? (detail === null ? title : `${title}: ${detail}`);
  return `Meta answers: ${text}`;
}
