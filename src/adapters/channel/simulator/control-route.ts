/** The routes of the simulator's controls: their scopes, their input and its errors. */
import { z } from "zod";
import type {
  CredentialRequest,
  CredentialRoute,
  HttpAnswer,
  RouteDescription,
} from "../../../ports/transport/http-route.ts";
import { ControlInputError } from "./input-error.ts";

export type ControlRequest = CredentialRequest<"json">;
export type ControlRoute = CredentialRoute<"json">;
export type ControlHandler<Controls> = (controls: Controls, request: ControlRequest) => Promise<HttpAnswer>;

/** The scope of GET, and the scope of the other methods. */
export interface ControlScopes {
  readonly read: ControlRoute["scope"];
  readonly write: ControlRoute["scope"];
}

/** A control: what it does, and what the OpenAPI document says of it. */
export interface Control<Controls> extends Omit<RouteDescription, "tag"> {
  readonly handle: ControlHandler<Controls>;
}

/** Returns the function that makes a route of these controls. */
export function createRouteFactory<Controls>(controls: Controls, scopes: ControlScopes) {
  return (
    method: "GET" | "POST" | "PUT",
    path: string,
    { handle, ...about }: Control<Controls>,
  ): ControlRoute => ({
    methods: [method],
    path,
    credential: "any",
    scope: method === "GET" ? scopes.read : scopes.write,
    body: "json",
    about: { ...about, tag: "simulator" },
    handle: (request) => handle(controls, request).catch(answerInvalid),
  });
}

function answerInvalid(error: unknown): HttpAnswer {
  if (!(error instanceof ControlInputError)) {
    throw error;
  }
  const { field, message } = error;
  return { invalid: { field, message } };
}

const limitMessage = "Send a whole number from 1.";

/** As in every list, a limit over the maximum is the maximum. */
export const ListQuery = z.object({
  limit: z.coerce
    .number(limitMessage)
    .int(limitMessage)
    .min(1, limitMessage)
    .default(50)
    .transform((limit) => Math.min(limit, 200)),
});

export const ListMeta = z.object({ limit: z.int(), total: z.int() });

/**
 * Missing input is an empty object. `unknownField` is the message for a field that a strict
 * schema does not have.
 * @throws ControlInputError for the first invalid field.
 */
export function parseControlInput<Schema extends z.ZodType>(
  schema: Schema,
  input: unknown,
  unknownField = "There is no such field.",
): z.output<Schema> {
  const parsed = schema.safeParse(input ?? {});
  if (parsed.success) {
    return parsed.data;
  }
  const issue = parsed.error.issues[0];
  const field = issue?.path.join(".") ?? "";
  if (issue?.code === "unrecognized_keys") {
    throw new ControlInputError([field, issue.keys[0]].filter(Boolean).join("."), unknownField);
  }
  throw new ControlInputError(field, issue?.message ?? "Invalid value.");
}
