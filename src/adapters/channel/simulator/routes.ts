/** The simulator's routes as data; the HTTP layer authenticates, parses JSON and sends errors. */
import { z } from "zod";
import {
  type ControlHandler,
  type ControlRoute,
  createRouteFactory,
  ListMeta,
  ListQuery,
  parseControlInput,
} from "./control-route.ts";
import type { SimulatorControls } from "./controls.ts";
import { Faults } from "./faults.ts";
import { InboundBody, toChange, toInboundContent } from "./inbound-body.ts";
import { phoneIdentifier } from "./phone-number.ts";
import { type LedgerMessage, ledgerStatuses } from "./store.ts";

export function createSimulatorRoutes(controls: SimulatorControls): readonly ControlRoute[] {
  const route = createRouteFactory(controls, { read: "inbox:read", write: "inbox:write" });
  return [
    route("POST", "/simulator/inbound", {
      name: "simulate_inbound_message",
      title: "Write as a customer",
      description:
        "Receive a message, a reaction, an edit or a deletion from a simulated customer. Send exactly one of text, button, reply, media, reaction, edit and revoke.",
      body: {
        schema: InboundBody,
        example: { from: "+14155550123", name: "Ada Lovelace", text: "Is my order on its way?" },
      },
      response: { status: 201, body: z.object({ data: Received }) },
      handle: postInbound,
    }),
    route("GET", "/simulator/phones/{number}/messages", {
      name: "list_simulated_messages",
      title: "List what a phone shows",
      description: "List the messages on a simulated phone, newest first.",
      query: ListQuery,
      response: { status: 200, body: z.object({ data: z.array(PhoneMessage), meta: ListMeta }) },
      handle: listMessages,
    }),
    route("POST", "/simulator/phones/{number}/read", {
      name: "read_simulated_messages",
      title: "Read as a customer",
      description: "Mark everything that was delivered to a simulated phone as read.",
      response: { status: 200, body: z.object({ data: z.object({ read: z.int() }) }) },
      handle: readMessages,
    }),
    route("GET", "/simulator/faults", {
      name: "get_simulated_faults",
      title: "Get injected failures",
      description: "Get the failures that the simulated channel injects.",
      response: { status: 200, body: z.object({ data: Faults }) },
      handle: getFaults,
    }),
    route("PUT", "/simulator/faults", {
      name: "replace_simulated_faults",
      title: "Replace injected failures",
      description: "Replace all failures that the simulated channel injects; an empty object removes all.",
      body: { schema: Faults, example: { lost_receipts: 0.1, failures: [{ code: 131026, share: 0.5 }] } },
      response: { status: 200, body: z.object({ data: Faults }) },
      handle: putFaults,
    }),
  ];
}

/** The forms of the responses. */
const Received = z.object({
  message_id: z.string(),
  conversation_id: z.string(),
  channel_message_id: z.string(),
});

const PhoneMessage = z.looseObject({
  id: z.string(),
  direction: z.enum(["inbound", "outbound"]),
  status: z.enum(ledgerStatuses),
  token: z.string().nullable(),
  type: z.string(),
  created_at: z.string(),
});

type RouteHandler = ControlHandler<SimulatorControls>;

const PhoneParams = z.object({ number: phoneIdentifier });

const postInbound: RouteHandler = async (controls, { organization_id, body }) => {
  const message = parseControlInput(InboundBody, body);
  const { from, to, user_id, username, wa_id, name, channel_message_id, reply_to } = message;
  const identities = { phone: from, bsuid: user_id, username, wa_id };
  const change = toChange(message);
  if (change) {
    const by = { organization_id, from: identities, change_id: channel_message_id };
    return { status: 201, body: { data: await controls.receiveChange({ ...by, ...change }) } };
  }
  const content = await toInboundContent(message, organization_id, controls);
  const received = await controls.receiveInbound({
    organization_id,
    from: identities,
    to,
    name,
    channel_message_id,
    reply_to,
    content,
  });
  return { status: 201, body: { data: received } };
};

const listMessages: RouteHandler = async (controls, { organization_id, params, query }) => {
  const { number } = parseControlInput(PhoneParams, params);
  const { limit } = parseControlInput(ListQuery, query);
  const { messages, total } = await controls.listMessages(organization_id, number, { limit });
  return { status: 200, body: { data: messages.map(toListedMessage), meta: { limit, total } } };
};

const readMessages: RouteHandler = async (controls, { organization_id, params }) => {
  const { number } = parseControlInput(PhoneParams, params);
  return { status: 200, body: { data: { read: await controls.readMessages(organization_id, number) } } };
};

const getFaults: RouteHandler = async (controls, { organization_id }) => ({
  status: 200,
  body: { data: await controls.getFaults(organization_id) },
});

const putFaults: RouteHandler = async (controls, { organization_id, body }) => {
  const faults = await controls.replaceFaults(
    organization_id,
    parseControlInput(Faults, body, "There is no such fault."),
  );
  return { status: 200, body: { data: faults } };
};

function toListedMessage({ id, direction, status, token, content, created_at }: LedgerMessage) {
  return { id, direction, status, token: direction === "outbound" ? token : null, ...content, created_at };
}
