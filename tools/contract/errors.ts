/** Errors: what an entry of an error table is, the body of a failed answer, and the errors that any operation has. */
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

/** One way to fail. */
export interface ErrorEntry {
  readonly type: ErrorType;
  readonly status: number;
  /** What is wrong; `{name}` is filled from the failure's detail. */
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

/** One field that is wrong, and what to send instead. */
export const ErrorDetail = z.object({
  field: z.string(),
  code: z.string(),
  message: z.string(),
  fix: z.string().optional(),
});
export type ErrorDetail = z.infer<typeof ErrorDetail>;

/** The body of every failed answer. Extra facts (`existing_id`, `required_scope`, …) stand beside `code`. */
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
