/** The simulator's routes as data; the HTTP layer authenticates, parses JSON and sends errors. */
import { z } from "zod";
import type { CredentialRequest, CredentialRoute, HttpAnswer } from "../../../ports/http-route.ts";
import type { SimulatorControls } from "./controls.ts";
import { Faults } from "./faults.ts";
import { InboundBody, toInboundContent } from "./inbound-body.ts";
import { ControlInputError } from "./input-error.ts";
import { phoneIdentifier } from "./phone-number.ts";
import type { LedgerMessage } from "./store.ts";

export function createSimulatorRoutes(controls: SimulatorControls): readonly CredentialRoute<"json">[] {
  const route = (
    method: "GET" | "POST" | "PUT",
    path: string,
    handle: RouteHandler,
  ): CredentialRoute<"json"> => ({
    methods: [method],
    path,
    credential: "any",
    scope: method === "GET" ? "inbox:read" : "inbox:write",
    body: "json",
    handle: (request) => handle(controls, request).catch(answerInvalid),
  });
  return [
    route("POST", "/simulator/inbound", postInbound),
    route("GET", "/simulator/phones/{number}/messages", listMessages),
    route("POST", "/simulator/phones/{number}/read", readMessages),
    route("GET", "/simulator/faults", getFaults),
    route("PUT", "/simulator/faults", putFaults),
  ];
}

function answerInvalid(error: unknown): HttpAnswer {
  if (!(error instanceof ControlInputError)) {
    throw error;
  }
  const { field, message } = error;
  return { invalid: { field, message } };
}

type RouteHandler = (controls: SimulatorControls, request: CredentialRequest<"json">) => Promise<HttpAnswer>;

const PhoneParams = z.object({ number: phoneIdentifier });

/** As in every list, a limit over the maximum is the maximum. */
const ListQuery = z.object({
  limit: z.coerce
    .number()
    .int()
    .min(1)
    .default(50)
    .transform((limit) => Math.min(limit, 200)),
});

const postInbound: RouteHandler = async (controls, { organization_id, body }) => {
  const message = parse(InboundBody, body);
  const { from = null, to, user_id, username, wa_id, name, channel_message_id } = message;
  const content = await toInboundContent(message, organization_id, controls);
  const received = await controls.receiveInbound({
    organization_id,
    from,
    to,
    identities: { bsuid: user_id, username, wa_id },
    name,
    channel_message_id,
    content,
  });
  return { status: 201, body: { data: received } };
};

const listMessages: RouteHandler = async (controls, { organization_id, params, query }) => {
  const { number } = parse(PhoneParams, params);
  const { limit } = parse(ListQuery, query);
  const { messages, total } = await controls.listMessages(organization_id, number, { limit });
  return { status: 200, body: { data: messages.map(toListedMessage), meta: { limit, total } } };
};

const readMessages: RouteHandler = async (controls, { organization_id, params }) => {
  const { number } = parse(PhoneParams, params);
  return { status: 200, body: { data: { read: await controls.readMessages(organization_id, number) } } };
};

const getFaults: RouteHandler = async (controls, { organization_id }) => ({
  status: 200,
  body: { data: await controls.getFaults(organization_id) },
});

const putFaults: RouteHandler = async (controls, { organization_id, body }) => {
  const faults = await controls.replaceFaults(organization_id, parse(Faults, body));
  return { status: 200, body: { data: faults } };
};

function toListedMessage({ id, direction, status, token, content, created_at }: LedgerMessage) {
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
    throw new ControlInputError([field, issue.keys[0]].filter(Boolean).join("."), "There is no such fault.");
  }
  throw new ControlInputError(field, issue?.message ?? "Invalid value.");
}
