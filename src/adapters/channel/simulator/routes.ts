/** The simulator's own routes, as data: whoever mounts them authenticates, parses JSON and answers refusals. */
import { z } from "zod";
import type { SimulatorControls } from "./controls.ts";
import { Faults } from "./faults.ts";
import { phoneName } from "./phone-number.ts";
import { ControlRefusal } from "./refusal.ts";
import type { LedgerMessage } from "./store.ts";
import { contentOf, Written } from "./written.ts";

export interface ControlRequest {
  /** Whose credential it was. */
  readonly organization_id: string;
  /** The path's placeholders, decoded. */
  readonly params: Readonly<Record<string, unknown>>;
  readonly query: Readonly<Record<string, unknown>>;
  /** The JSON body; undefined when there is none. */
  readonly body: unknown;
}

/** An answer, or the one field of the request that is wrong and why; an empty field means the whole body. */
export type ControlAnswer =
  | { readonly status: number; readonly body: Readonly<Record<string, unknown>> }
  | { readonly invalid: { readonly field: string; readonly message: string } };

export interface ControlRoute {
  readonly method: "GET" | "POST" | "PUT";
  /** With placeholders in braces: `/simulator/phones/{number}/messages`. */
  readonly path: string;
  handle(request: ControlRequest): Promise<ControlAnswer>;
}

export function createRoutes(controls: SimulatorControls): readonly ControlRoute[] {
  const route = (method: ControlRoute["method"], path: string, handle: Handle): ControlRoute => ({
    method,
    path,
    handle: (request) => handle(controls, request).catch(answerInvalid),
  });
  return [
    route("POST", "/simulator/inbound", write),
    route("GET", "/simulator/phones/{number}/messages", listMessages),
    route("POST", "/simulator/phones/{number}/read", readMessages),
    route("GET", "/simulator/faults", getFaults),
    route("PUT", "/simulator/faults", putFaults),
  ];
}

function answerInvalid(error: unknown): ControlAnswer {
  if (!(error instanceof ControlRefusal)) {
    throw error;
  }
  const { field, message } = error;
  return { invalid: { field, message } };
}

type Handle = (controls: SimulatorControls, request: ControlRequest) => Promise<ControlAnswer>;

const Phone = z.object({ number: phoneName });

/** Over the maximum is read as the maximum, as in every list. */
const Limit = z.object({
  limit: z.coerce
    .number()
    .int()
    .min(1)
    .default(50)
    .transform((limit) => Math.min(limit, 200)),
});

const write: Handle = async (controls, { organization_id, body }) => {
  const written = parse(Written, body);
  const { from = null, to, user_id, username, wa_id, name, channel_message_id } = written;
  const content = await contentOf(written, organization_id, controls);
  const heard = await controls.inbound({
    organization_id,
    from,
    to,
    identities: { bsuid: user_id, username, wa_id },
    name,
    channel_message_id,
    content,
  });
  return { status: 201, body: { data: heard } };
};

const listMessages: Handle = async (controls, { organization_id, params, query }) => {
  const { number } = parse(Phone, params);
  const { limit } = parse(Limit, query);
  const { messages, total } = await controls.messages(organization_id, number, { limit });
  return { status: 200, body: { data: messages.map(present), meta: { limit, total } } };
};

const readMessages: Handle = async (controls, { organization_id, params }) => {
  const { number } = parse(Phone, params);
  return { status: 200, body: { data: { read: await controls.read(organization_id, number) } } };
};

const getFaults: Handle = async (controls, { organization_id }) => ({
  status: 200,
  body: { data: await controls.faults(organization_id) },
});

const putFaults: Handle = async (controls, { organization_id, body }) => {
  const faults = await controls.replaceFaults(organization_id, parse(Faults, body));
  return { status: 200, body: { data: faults } };
};

function present({ id, direction, status, token, content, created_at }: LedgerMessage) {
  return { id, direction, status, token: direction === "outbound" ? token : null, ...content, created_at };
}

function parse<Schema extends z.ZodType>(schema: Schema, value: unknown): z.output<Schema> {
  const parsed = schema.safeParse(value ?? {});
  if (parsed.success) {
    return parsed.data;
  }
  const issue = parsed.error.issues[0];
  const field = issue?.path.join(".") ?? "";
  if (issue?.code === "unrecognized_keys") {
    throw new ControlRefusal([field, issue.keys[0]].filter(Boolean).join("."), "There is no such fault.");
  }
  throw new ControlRefusal(field, issue?.message ?? "It is not valid.");
}
