/**
 * A WhatsApp inbox for journeys: an app that calls the emulator of the API, which posts its
 * webhooks to the app.
 */
import { afterAll, beforeAll } from "vitest";
import { createClock, defaults, type Emulator, startEmulator } from "../../emulator/index.ts";
import { startTestApp, type TestApp } from "./app.ts";
import {
  type ChannelControls,
  type Customer,
  type CustomerPhone,
  createReports,
  type ShownMessage,
} from "./channel-controls.ts";
import { createWhatsAppInbox } from "./whatsapp.ts";
import type { Json } from "./whatsapp-emulator.ts";

const { phone_number_id, waba_id, app_id, app_secret, access_token, verify_token, phone_number } = defaults;

type EmulatedOptions = Pick<NonNullable<Parameters<typeof startTestApp>[0]>, "database" | "log">;

/** An app with an inbox on the emulator. */
export async function startEmulatedWhatsApp(
  env: Readonly<Record<string, string>> = {},
  options: EmulatedOptions = {},
) {
  const startsAt = new Date("2026-11-22T12:00:00.000Z");
  const emulator = await startEmulator({ clock: createClock(startsAt.getTime()) });
  const app = await startTestApp({
    ...options,
    startsAt,
    env: {
      TIDINGS_WHATSAPP_BASE_URL: emulator.url,
      TIDINGS_PUBLIC_URL: "https://tidings.example",
      ...env,
    },
  });
  const credentials = { phone_number_id, waba_id, app_id, app_secret, access_token, verify_token };
  const inbox = await createWhatsAppInbox(app, { phone_number: `+${phone_number}`, credentials });
  const control = createControl(emulator);
  const { pathname } = new URL(inbox.callback_url ?? "");
  await control("POST", `/apps/${app_id}`, { callback_url: app.address + pathname });
  const advance = (ms: number) => advanceBoth(app, emulator, ms);
  return { app, emulator, inbox, control, advance };
}

/** One app with an inbox on the emulator for the tests of a file or of a `describe`. */
export function useEmulatedWhatsApp(
  options: EmulatedOptions = {},
  env: Readonly<Record<string, string>> = {},
): () => Awaited<ReturnType<typeof startEmulatedWhatsApp>> {
  let started: Awaited<ReturnType<typeof startEmulatedWhatsApp>> | undefined;
  beforeAll(async () => {
    started = await startEmulatedWhatsApp(env, options);
  });
  afterAll(async () => {
    await started?.app[Symbol.asyncDispose]();
    await started?.emulator[Symbol.asyncDispose]();
  });
  return () => {
    if (started === undefined) {
      throw new Error("The app runs only during tests.");
    }
    return started;
  };
}

export async function startWhatsAppChannel(): Promise<ChannelControls> {
  const { app, emulator, inbox, control, advance } = await startEmulatedWhatsApp();
  return {
    app,
    inbox_id: inbox.id,
    advance,
    open: (customer) => openEmulatedPhone({ emulator, control, advance }, customer),
    review: (settings) => control("PUT", "/review", settings),
    failWith: (code) => control("PUT", "/faults", code === null ? {} : { failures: [{ code }] }),
    async [Symbol.asyncDispose]() {
      await app[Symbol.asyncDispose]();
      await emulator[Symbol.asyncDispose]();
    },
  };
}

/** The status is reported 50 ms and 200 ms after a message: advanced together, their webhooks would race. */
async function advanceBoth(app: TestApp, emulator: Emulator, ms: number): Promise<void> {
  const first = Math.min(ms, 100);
  for (const step of [first, ms - first]) {
    await app.runDueJobs();
    // The times of a message with a link count from when the file is there.
    await emulator.idle();
    emulator.clock.advance(step);
    await emulator.idle();
    await app.advanceTime(step);
  }
}

type Control = (method: string, path: string, body?: object) => Promise<Json>;

function createControl({ url }: Emulator): Control {
  return async (method, path, body) => {
    const json = body === undefined ? {} : { body: JSON.stringify(body) };
    const answer = await fetch(`${url}/emulator${path}`, { method, ...json });
    if (!answer.ok) {
      throw new Error(await answer.text());
    }
    return answer.json();
  };
}

interface Connection {
  readonly emulator: Emulator;
  readonly control: Control;
  advance(ms: number): Promise<void>;
}

function openEmulatedPhone(connection: Connection, { address, hidesNumber }: Customer): CustomerPhone {
  const { emulator, control, advance } = connection;
  const path = `/customers/${encodeURIComponent(address)}`;
  const write = async (content: object) => {
    const from = hidesNumber ? { user_id: address } : { from: address };
    await control("POST", "/inbound", { ...from, ...content });
    await emulator.idle();
    // The pause after a message to one person, 6 seconds, is not what journeys are about.
    await advance(10_000);
  };
  /** The id of the newest message in a direction. */
  const newest = async (wanted: string) => {
    const { data } = await control("GET", `${path}/messages`);
    return data.find(({ direction }: Json) => direction === wanted).id;
  };
  return {
    ...createReports(write, newest),
    choose: (label) => write({ choose: label }),
    sendFile: ({ type, bytes, mime_type, caption }) =>
      write({ media: { type, base64: bytes.toString("base64"), mime_type, caption } }),
    async read() {
      await control("POST", `${path}/read`, {});
      await advance(1_000);
    },
    async shown() {
      const { data } = await control("GET", `${path}/messages`);
      const outbound = data.reverse().filter(({ direction }: Json) => direction === "outbound");
      const quoted = ({ body }: Json) => data.find(({ id }: Json) => id === body.context?.message_id);
      return Promise.all(
        outbound.map(async (message: Json) => {
          const quotes = quoted(message)?.body.text.body ?? null;
          return { ...(await show(emulator, message)), quotes };
        }),
      );
    },
  };
}

async function show(
  emulator: Emulator,
  { type, body, statuses, files }: Json,
): Promise<Omit<ShownMessage, "quotes">> {
  const { text, interactive, template } = body;
  const { buttons = [], sections = [] } = interactive?.action ?? {};
  const rows = sections.flatMap((section: Json) => section.rows);
  const titles = [...buttons.map(({ reply }: Json) => reply), ...rows].map(({ title }: Json) => title);
  const media = body[type];
  const media_id = media.id ?? files[0]?.media_id;
  const shown = template ? await renderTemplate(emulator, template) : { text: null, choices: [] };
  return {
    type,
    status: statuses.at(-1)?.status ?? "accepted",
    text: text?.body ?? interactive?.body.text ?? shown.text ?? media.caption ?? null,
    choices: [...titles, ...shown.choices],
    file: media_id === undefined ? null : await download(emulator, media_id),
  };
}

const authorized = { headers: { authorization: `Bearer ${access_token}` } };

/** A message names a template; the phone shows its text with the values. */
async function renderTemplate({ url }: Emulator, sent: Json) {
  const answer = await fetch(`${url}/v25.0/${waba_id}/message_templates?name=${sent.name}`, authorized);
  const { components } = ((await answer.json()) as Json).data[0];
  const partOf = (list: Json, name: string) => list?.find(({ type }: Json) => type.toUpperCase() === name);
  const values = partOf(sent.components, "BODY")?.parameters ?? [];
  return {
    text: partOf(components, "BODY").text.replace(
      /\{\{(\d+)\}\}/g,
      (_: string, n: string) => values[Number(n) - 1]?.text,
    ),
    choices: (partOf(components, "BUTTONS")?.buttons ?? []).map((button: Json) => button.text),
  };
}

async function download({ url }: Emulator, id: string): Promise<Buffer> {
  const { url: address } = (await (await fetch(`${url}/v25.0/${id}`, authorized)).json()) as Json;
  return Buffer.from(await (await fetch(address, authorized)).arrayBuffer());
}
