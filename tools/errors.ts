/**
 * Every error of the service by code, and `fail`, which creates the failure to throw.
 *
 * The common errors are in the contract. The other errors are in the file of their resource.
 */
import { apiKeyErrors } from "./api-keys.ts";
import { authErrors } from "./auth.ts";
import { billingErrors } from "./billing.ts";
import { broadcastErrors } from "./broadcasts/index.ts";
import { chatbotErrors } from "./chatbot.ts";
import { clockErrors } from "./clock.ts";
import { cohortErrors, queryErrors } from "./cohorts/index.ts";
import { contactErrors } from "./contacts.ts";
import {
  accessErrors,
  type ErrorBody,
  type ErrorEntry,
  Failure,
  type FailureDetail,
  fieldFailure,
  findMalformedCredential,
  requestErrors,
  serviceErrors,
} from "./contract/index.ts";
import { conversationErrors } from "./conversations.ts";
import { flowErrors } from "./flows/index.ts";
import { importErrors } from "./imports.ts";
import { inboxErrors } from "./inbox-errors.ts";
import { knowledgeErrors } from "./knowledge-base/index.ts";
import { ledgerErrors } from "./ledger.ts";
import { toolErrors } from "./mcp.ts";
import { messageErrors } from "./messages/index.ts";
import { operatorErrors } from "./operator.ts";
import { organizationErrors } from "./organization.ts";
import { paymentErrors } from "./payments.ts";
import { planErrors } from "./plan-errors.ts";
import { priceErrors } from "./prices.ts";
import { quickReplyErrors } from "./quick-replies.ts";
import { routingErrors } from "./routing.ts";
import { ruleErrors } from "./rules.ts";
import { teamErrors } from "./teams.ts";
import { templateErrors } from "./templates/index.ts";
import { uploadErrors } from "./uploads.ts";
import { userErrors } from "./users.ts";
import { walletErrors } from "./wallet.ts";
import { webhookErrors } from "./webhook-errors.ts";

export const errors = {
  ...requestErrors,
  ...accessErrors,
  ...authErrors,
  ...apiKeyErrors,
  ...organizationErrors,
  ...operatorErrors,
  ...clockErrors,
  ...priceErrors,
  ...planErrors,
  ...ruleErrors,
  ...contactErrors,
  ...userErrors,
  ...inboxErrors,
  ...teamErrors,
  ...quickReplyErrors,
  ...conversationErrors,
  ...webhookErrors,
  ...messageErrors,
  ...ledgerErrors,
  ...walletErrors,
  ...paymentErrors,
  ...billingErrors,
  ...broadcastErrors,
  ...flowErrors,
  ...chatbotErrors,
  ...templateErrors,
  ...uploadErrors,
  ...importErrors,
  ...knowledgeErrors,
  ...routingErrors,
  ...cohortErrors,
  ...queryErrors,
  ...toolErrors,
  ...serviceErrors,
} as const satisfies Record<string, ErrorEntry>;

export type ErrorCode = keyof typeof errors;

/** The failure to throw: `throw fail("contact_exists", { existing_id })`. */
export function fail(code: ErrorCode, detail?: FailureDetail, cause?: unknown): Failure {
  return new Failure(code, errors[code], { detail, cause });
}

/** A failure in one field: `throw failField("to", "contact_not_found")`. */
export function failField(field: string, code: ErrorCode, detail?: FailureDetail): Failure {
  return fieldFailure(field, code, errors[code], detail);
}

/** The failure for a missing credential: none was sent, or it has a wrong form. */
export function failCredential(headers: Parameters<typeof findMalformedCredential>[0]): Failure {
  const header = findMalformedCredential(headers);
  return header === undefined ? fail("credential_missing") : fail("credential_malformed", { header });
}

/** Restores the failure whose body was stored. */
export function restoreFailure(body: ErrorBody, isReplay: boolean): Failure {
  const { type: _type, code, message: _message, fix: _fix, request_id: _id, ...detail } = body.error;
  // Only our own bodies are stored, so the code is a code of the table.
  return new Failure(code, errors[code as ErrorCode], { detail, isReplay });
}
