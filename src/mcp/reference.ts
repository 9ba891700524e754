/** The catalogue's errors, events and scopes as documents for assistants. */
import { scopes, toJsonSchema } from "../../tools/contract/index.ts";
import { errors } from "../../tools/errors.ts";
import { publicEvents } from "../../tools/events.ts";

export const referenceDocuments = {
  errors: () =>
    Object.entries(errors).map(([code, { status, type, message, fix }]) => ({
      code,
      status,
      type,
      message,
      fix,
    })),
  events: () =>
    Object.entries(publicEvents).map(([type, { scope, data }]) => ({
      type,
      scope,
      data: toJsonSchema(data, "output"),
    })),
  scopes: () => scopes.map(({ name, grants }) => ({ scope: name, grants })),
} as const;
