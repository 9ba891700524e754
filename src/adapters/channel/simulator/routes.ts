/** The simulator's routes as data; the HTTP layer authenticates, parses JSON and sends errors. */
import { z } from "zod";
import {
  type ControlHandler,
  type ControlRoute,
  createRouteFactory,
  ListQuery,
  parseControlInput,
} from "./control-route.ts";
import type { SimulatorControls } from "./controls.ts";
import { Faults } from "./faults.ts";
import { InboundBody, toChange, toInboundContent } from "./inbound-body.ts";
import { phoneIdentifier } from "./phone-number.ts";
import type { LedgerMessage } from "./store.ts";

export function createSimulatorRoutes(controls: SimulatorControls): readonly ControlRoute[] {
  const route = createRouteFactory(controls, { read: "inbox:read", write: "inbox:write" });
  return [
    route("POST", "/simulator/inbound", postInbound),
    route("GET", "/simulator/phones/{number}/messages", listMessages),
    route("POST", "/simulator/phones/{number}/read", readMessages),
    route("GET", "/simulator/faults", getFaults),
    route("PUT", "/simulator/faults", putFaults),
  ];
}

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
