/** What one way to fail is made of. */

export const errorTypes = [
  "invalid_request",
  "authentication",
  "permission",
  "not_found",
  "conflict",
  "business_rule",
  "payment_required",
  "rate_limit",
  "idempotency",
  "channel",
  "internal",
] as const;

export type ErrorType = (typeof errorTypes)[number];

export interface Entry {
  readonly type: ErrorType;
  readonly status: number;
  /** What is wrong; `{name}` is filled from the failure's detail. */
  readonly message: string;
  /** What to do next, for a person or a model. */
  readonly fix: string;
}

export const entry = (type: ErrorType, status: number, message: string, fix: string): Entry => ({
  type,
  status,
  message,
  fix,
});
