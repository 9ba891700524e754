/** Every way to fail: code, status, the sentence that is sent, and what to do next. */
import { z } from "zod";
import { accessErrors } from "./errors/access.ts";
import { conflictErrors } from "./errors/conflicts.ts";
import { type Entry, errorTypes } from "./errors/entry.ts";
import { fileErrors } from "./errors/files.ts";
import { missingErrors } from "./errors/missing.ts";
import { queryErrors } from "./errors/query.ts";
import { requestErrors } from "./errors/request.ts";
import { ruleErrors } from "./errors/rules.ts";
import { serviceErrors } from "./errors/service.ts";

export { errorTypes } from "./errors/entry.ts";

export const errors = {
  ...requestErrors,
  ...queryErrors,
  ...accessErrors,
  ...missingErrors,
  ...conflictErrors,
  ...ruleErrors,
  ...fileErrors,
  ...serviceErrors,
} as const satisfies Record<string, Entry>;

export type ErrorCode = keyof typeof errors;

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
