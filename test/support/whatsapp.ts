/** WhatsApp for tests: a scripted Graph API, an inbox on it, and signed webhooks. */
import { createHmac } from "node:crypto";
import { afterAll, beforeAll } from "vitest";
import { inboxes } from "../../tools/inboxes.ts";
import { messages } from "../../tools/messages/index.ts";
import { startTestApp, type TestApp } from "./app.ts";
import {
  type RecordedRequest,
  type ScriptedResponse,
  startUpstream,
  type Upstream,
} from "./scripted-service.ts";

export const whatsAppNumber = "+16315555555";
export const credentials = {
  phone_number_id: "106540352242922",
  waba_id: "102290129340398",
  app_id: "1234567890123456",
  access_token: "EAAtoken-that-must-not-leak",
  app_secret: "appsecret-that-must-not-leak",
  verify_token: "verifytoken-that-must-not-leak",
};
export const secretValues = [credentials.access_token, credentials.app_secret, credentials.verify_token];

export interface GraphApi extends Upstream {
  readonly env: Record<string, string>;
  /** Answers by the method and the end of the path; a test may replace them. */
  readonly routes: Record<string, (request: RecordedRequest) => ScriptedResponse | Promise<ScriptedResponse>>;
  /** The proof of the app's secret of each request; null: it had none. */
  readonly proofs: (string | null)[];
  /** The bodies of the messages that were sent. */
  sent(): readonly Record<string, unknown>[];
}

const ok = (body: unknown) => (): ScriptedResponse => ({ body });

/** The answers of an account that works. */
function workingRoutes(): GraphApi["routes"] {
  let count = 0;
  return {
    "GET phone_numbers": ok({
      data: [{ id: credentials.phone_number_id, display_phone_number: "+1 631-555-5555" }],
    }),
    "POST subscribed_apps": ok({ success: true }),
    "GET subscribed_apps": ok({ data: [{ whatsapp_business_api_data: { id: credentials.app_id } }] }),
    "POST messages": () => {
      count += 1;
      return { body: { messaging_product: "whatsapp", messages: [{ id: `wamid.${count}` }] } };
    },
  };
}

export async function startGraphApi(): Promise<GraphApi> {
  const routes = workingRoutes();
  const proofs: (string | null)[] = [];
  const upstream = await startUpstream((recorded) => {
    const { request, proof } = withoutProof(recorded);
    const index = upstream.requests.indexOf(recorded);
    if (index !== -1) {
      upstream.requests[index] = request;
    }
    proofs.push(proof);
    const [path = ""] = request.path.split("?");
    const route = routes[`${request.method} ${path.split("/").at(-1)}`];
    return route?.(request) ?? graphError(100, { error_subcode: 33 });
  });
  return Object.assign(upstream, {
    routes,
    proofs,
    env: { TIDINGS_WHATSAPP_BASE_URL: upstream.url, TIDINGS_PUBLIC_URL: "https://tidings.example" },
    sent: () =>
      upstream.requests
        .filter(({ method, path }) => method === "POST" && path.endsWith("/messages"))
        // The client sends JSON objects to this path.
        .map(({ body }) => body as Record<string, unknown>),
  });
}

/** The proof is in the query of each request, which tests are not about. */
function withoutProof(request: RecordedRequest) {
  const [before = "", proof = null] = request.path.split(/[?&]appsecret_proof=/);
  return { request: { ...request, path: before }, proof };
}

export function graphError(code: number, more: object = {}, response: object = {}): ScriptedResponse {
  const error = { message: `(#${code}) Title`, type: "OAuthException", code, fbtrace_id: "A", ...more };
  return { status: 400, body: { error }, ...response };
}

export async function createWhatsAppInbox(app: TestApp, more: object = {}) {
  const input = { name: "WhatsApp", channel: "whatsapp" as const, phone_number: whatsAppNumber, credentials };
  return (await app.call(inboxes.create_inbox, { ...input, ...more })).data;
}

export type Inbox = Awaited<ReturnType<typeof createWhatsAppInbox>>;

/**
 * So that the jobs that run at a time of the day, some of which ask the API, run at the same
 * step of each test run.
 */
const startsAt = new Date("2026-06-01T10:00:00Z");

export async function startWhatsAppApp(graph: GraphApi, options: Parameters<typeof startTestApp>[0] = {}) {
  const app = await startTestApp({ startsAt, ...options, env: { ...graph.env, ...options.env } });
  return { app, inbox: await createWhatsAppInbox(app) };
}

export interface StartedWhatsApp {
  readonly graph: GraphApi;
  readonly app: TestApp;
  readonly inbox: Inbox;
}

/** Starts the API and an app with an inbox on it before the tests of a file, and stops them after. */
export function useWhatsApp(
  onStart: (started: StartedWhatsApp) => void,
  options?: Parameters<typeof startTestApp>[0],
): void {
  let started: StartedWhatsApp | undefined;
  beforeAll(async () => {
    const graph = await startGraphApi();
    started = { graph, ...(await startWhatsAppApp(graph, options)) };
    onStart(started);
  });
  afterAll(async () => {
    await started?.app[Symbol.asyncDispose]();
    await started?.graph[Symbol.asyncDispose]();
  });
}

export const signatureOf = (body: string | Uint8Array, secret = credentials.app_secret) =>
  `sha256=${createHmac("sha256", secret).update(body).digest("hex")}`;

/** Posts a body to the inbox's address, signed unless headers are given. */
export async function postWebhook(
  app: TestApp,
  inbox: Pick<Inbox, "callback_url">,
  { body, signature = signatureOf(body) }: { readonly body: string | Buffer; readonly signature?: string },
): Promise<Response> {
  const headers = { "content-type": "application/json", "x-hub-signature-256": signature };
  const { pathname } = new URL(inbox.callback_url ?? "");
  return app.fetch(pathname, { method: "POST", key: null, body, headers });
}

interface Change {
  readonly field: string;
  readonly value: object;
}

/** A body with changes of the account's fields. */
export function envelope(...changes: readonly Change[]) {
  return { object: "whatsapp_business_account", entry: [{ id: credentials.waba_id, changes }] };
}

const metadata = { display_phone_number: "16315555555", phone_number_id: credentials.phone_number_id };

export const messagesChange = (value: object) => ({
  field: "messages",
  value: { messaging_product: "whatsapp", metadata, ...value },
});

let nextId = 0;
export function inboundText(body: string, more: object = {}) {
  nextId += 1;
  const message = { from: "14155550123", id: `wamid.in${nextId}`, timestamp: "1772998024", type: "text" };
  return { ...message, text: { body }, ...more };
}

/** Delivers changes as Meta does, and runs the jobs. */
export async function deliver(app: TestApp, inbox: Inbox, ...changes: readonly Change[]) {
  const response = await postWebhook(app, inbox, { body: JSON.stringify(envelope(...changes)) });
  await app.runDueJobs();
  return response.status;
}

/** A message within the window: the contact has just written. */
export async function openWindow(app: TestApp, inbox: Inbox, from = "14155550123") {
  const timestamp = String(Math.floor(app.now().getTime() / 1000));
  await deliver(app, inbox, messagesChange({ messages: [inboundText("Hi", { from, timestamp })] }));
}

export async function sendText(app: TestApp, inbox: Inbox, to = "+14155550123") {
  const input = { to, type: "text" as const, text: { body: "hello" }, inbox_id: inbox.id };
  const { data } = await app.call(messages.send_message, input);
  await app.runDueJobs();
  return {
    id: data.id,
    read: async () => {
      const { conversation_id, id: message_id } = data;
      return (await app.call(messages.get_message, { conversation_id, message_id })).data;
    },
  };
}
