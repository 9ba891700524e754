/**
 * The error codes of the Cloud API that the emulator can answer or report, from Meta's
 * published error reference.
 */

export interface ErrorCode {
  /** The documented status. Throttles also come with 429. */
  readonly http: number;
  readonly title: string;
  /** It is reported by a webhook after the request was accepted, unless asked for otherwise. */
  readonly isAsync?: boolean;
}

export const errorCodes: Readonly<Record<number, ErrorCode>> = {
  0: { http: 401, title: "AuthException" },
  1: { http: 400, title: "API Unknown" },
  2: { http: 503, title: "API Service" },
  3: { http: 500, title: "API Method" },
  4: { http: 400, title: "API Too Many Calls" },
  10: { http: 403, title: "Permission Denied" },
  15: { http: 400, title: "This method must be called with an app access_token." },
  33: { http: 400, title: "Parameter value is not valid" },
  100: { http: 400, title: "Invalid parameter" },
  190: { http: 401, title: "Access token has expired" },
  200: { http: 403, title: "Permissions error" },
  368: { http: 403, title: "Temporarily blocked for policies violations" },
  2200: { http: 400, title: "Callback verification failed with the following errors" },
  80007: { http: 400, title: "Rate limit issues" },
  130429: { http: 400, title: "Rate limit hit" },
  130472: { http: 400, title: "User's number is part of an experiment", isAsync: true },
  130497: { http: 403, title: "Business account is restricted from messaging users in this country" },
  131000: { http: 500, title: "Something went wrong" },
  131005: { http: 403, title: "Access denied" },
  131008: { http: 400, title: "Required parameter is missing" },
  131009: { http: 400, title: "Parameter value is not valid" },
  131016: { http: 500, title: "Service unavailable" },
  131021: { http: 400, title: "Recipient cannot be sender" },
  131026: { http: 400, title: "Message undeliverable", isAsync: true },
  131030: { http: 400, title: "Recipient phone number not in allowed list" },
  131031: { http: 403, title: "Account has been locked" },
  131037: { http: 400, title: "Display name needs approval before messages can be sent" },
  131042: { http: 400, title: "Business eligibility payment issue", isAsync: true },
  131045: { http: 500, title: "Incorrect certificate" },
  131047: { http: 400, title: "Re-engagement message", isAsync: true },
  131048: { http: 400, title: "Spam rate limit hit" },
  131049: {
    http: 400,
    title: "Message not delivered to maintain healthy ecosystem engagement",
    isAsync: true,
  },
  131050: { http: 400, title: "User has stopped marketing messages", isAsync: true },
  131051: { http: 400, title: "Unsupported message type" },
  131052: { http: 400, title: "Media download error" },
  131053: { http: 400, title: "Media upload error", isAsync: true },
  131055: { http: 400, title: "Method not allowed" },
  131056: { http: 400, title: "(Business Account, Consumer Account) pair rate limit hit" },
  131057: { http: 500, title: "Account in maintenance mode" },
  131062: { http: 400, title: "Business-scoped user id is not supported for this message" },
  131063: { http: 400, title: "Marketing templates disabled on Cloud API for this account" },
  131064: { http: 400, title: "Messaging limit due to template misclassification" },
  132000: { http: 400, title: "Number of parameters does not match the expected number of params" },
  132001: { http: 404, title: "Template name does not exist in the translation" },
  132005: { http: 400, title: "Translated text too long" },
  132007: { http: 400, title: "Template format character policy violated" },
  132008: { http: 400, title: "Template parameter value invalid" },
  132012: { http: 400, title: "Parameter format does not match format in the created template" },
  132015: { http: 400, title: "Template is paused" },
  132016: { http: 400, title: "Template is disabled" },
  132068: { http: 400, title: "Flow is blocked" },
  132069: { http: 400, title: "Flow is throttled" },
  133004: { http: 503, title: "Server temporarily unavailable" },
  133005: { http: 400, title: "Two step verification PIN Mismatch" },
  133006: { http: 400, title: "Phone number re-verification needed" },
  133010: { http: 400, title: "Phone number not registered" },
  133015: { http: 400, title: "Number deleted recently, wait 5 minutes" },
  133016: { http: 400, title: "Register/deregister attempts exceeded" },
  134100: { http: 400, title: "Only marketing supported (marketing API)" },
  134101: { http: 400, title: "Template still syncing, up to 10 min" },
  134102: { http: 500, title: "Template unavailable (marketing API)" },
  135000: { http: 400, title: "Generic user error" },
  137000: { http: 400, title: "Recipient identity key mismatch" },
};

/** A throttled client should wait and try again. */
export const throttleCodes: readonly number[] = [4, 80007, 130429, 131048, 131056];
