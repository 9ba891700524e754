/** The routes of the controls. They need no token: the emulator is for one developer or one test run. */
import type { IncomingMessage } from "node:http";
import { GraphError } from "../contract/graph-error.ts";
import { type BodyAnswer, json } from "../http/answer.ts";
import { readJson } from "../http/body.ts";
import type { World } from "../world.ts";
import {
  createAccount,
  createApp,
  createPhone,
  createToken,
  expireToken,
  updateApp,
  updatePhone,
} from "./accounts.ts";
import { changeNumber, chooseMarketing, listThread, markRead } from "./customers.ts";
import { receive } from "./inbound.ts";
import { ControlError, type ControlHandler } from "./input.ts";
import { advanceClock, getFaults, getOverview, putFaults, reset } from "./state.ts";
import { decideTemplates, getReview, putReview } from "./templates.ts";
import { countPerSecond, listDeliveries, listSent, reportMessageStatus, sendWebhook } from "./traffic.ts";

const routes: Readonly<Record<string, ControlHandler>> = {
  "GET /emulator": getOverview,
  "POST /emulator/reset": reset,
  "POST /emulator/clock": advanceClock,
  "POST /emulator/apps": createApp,
  "POST /emulator/apps/{id}": updateApp,
  "POST /emulator/accounts": createAccount,
  "POST /emulator/phone-numbers": createPhone,
  "POST /emulator/phone-numbers/{id}": updatePhone,
  "POST /emulator/tokens": createToken,
  "POST /emulator/tokens/expire": expireToken,
  "POST /emulator/inbound": receive,
  "GET /emulator/customers/{key}/messages": listThread,
  "POST /emulator/customers/{key}/read": markRead,
  "POST /emulator/customers/{key}/number": changeNumber,
  "POST /emulator/customers/{key}/marketing": chooseMarketing,
  "GET /emulator/messages": listSent,
  "POST /emulator/messages/{id}/status": reportMessageStatus,
  "GET /emulator/messages/per-second": countPerSecond,
  "GET /emulator/webhooks": listDeliveries,
  "POST /emulator/webhooks": sendWebhook,
  "GET /emulator/faults": getFaults,
  "PUT /emulator/faults": putFaults,
  "GET /emulator/review": getReview,
  "PUT /emulator/review": putReview,
  "POST /emulator/templates": decideTemplates,
};

const patterns = Object.entries(routes).map(([route, handler]) => {
  const [method = "", path = ""] = route.split(" ");
  return { method, pattern: new RegExp(`^${path.replace(/\{(\w+)\}/g, "(?<$1>[^/]+)")}$`), handler };
});

export async function runControl(world: World, request: IncomingMessage, url: URL): Promise<BodyAnswer> {
  try {
    const body = request.method === "GET" ? {} : await readJson(request);
    for (const { method, pattern, handler } of patterns) {
      const match = request.method === method ? pattern.exec(url.pathname) : null;
      if (match) {
        const params = Object.fromEntries(
          Object.entries(match.groups ?? {}).map(([name, value]) => [name, decodeURIComponent(value)]),
        );
        return json(await handler({ world, params, query: url.searchParams, body }));
      }
    }
    throw new ControlError(`There is no ${request.method} ${url.pathname}.`, 404);
  } catch (error) {
    if (error instanceof ControlError || error instanceof GraphError || error instanceof URIError) {
      const status = error instanceof ControlError ? error.status : 400;
      return json({ error: { message: error.message } }, status);
    }
    throw error;
  }
}
