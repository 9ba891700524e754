/** The entries of error tables, and the body of an error response. */
import { z } from "zod";

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

/** One error. */
export interface ErrorEntry {
  readonly type: ErrorType;
  readonly status: number;
  /** The problem. `{name}` is replaced by the failure's fact of this name. */
  readonly message: string;
  /** What to do next, for a person or a model. */
  readonly fix: string;
}

export const errorEntry = (type: ErrorType, status: number, message: string, fix: string): ErrorEntry => ({
  type,
  status,
  message,
  fix,
});

/** One invalid field, and what to send instead. */
export const ErrorDetail = z.object({
  field: z.string(),
  code: z.string(),
  message: z.string(),
  fix: z.string().optional(),
  /** Names that are near to an unknown one. */
  suggestions: z.array(z.string()).optional(),
});
export type ErrorDetail = z.infer<typeof ErrorDetail>;

/**
 * The body of every error response. Extra facts (`existing_id`, `required_scope`, …) are members beside
 * `code`.
 */
export const ErrorBody = z.object({
  error: z.looseObject({
    type: z.enum(errorTypes),
    code: z.string(),
    message: z.string(),
    fix: z.string().optional(),
    param: z.string().optional(),
    details: z.array(ErrorDetail).optional(),
    request_id: z.string().optional(),
  }),
});
export type ErrorBody = z.infer<typeof ErrorBody>;
