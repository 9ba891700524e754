/**
 * A service at the emulator of WhatsApp whose public address leads to it, so that the emulator can verify the
 * addresses of its inboxes.
 */
import { createClock, defaults, startEmulator } from "../../emulator/index.ts";
import { startTestApp, type TestApp } from "./app.ts";
import { startReceiver } from "./receiver.ts";

const { app_id, waba_id, phone_number_id } = defaults;

/** The account that the emulator has. */
export const connectableAccount = {
  app_id,
  waba_id,
  phone_number_id,
  access_token: "EAAconnect-that-must-not-leak",
  app_secret: "appsecret-that-must-not-leak",
  verify_token: "verifytoken-that-must-not-leak",
};

export async function startConnectableWhatsApp(options: Parameters<typeof startTestApp>[0] = {}) {
  const startsAt = new Date("2026-11-22T12:00:00.000Z");
  const { app_secret, access_token } = connectableAccount;
  const emulator = await startEmulator({ clock: createClock(startsAt.getTime()), app_secret, access_token });
  const reachable: { app?: TestApp; isPublic: boolean } = { isPublic: true };
  const receiver = await startReceiver(async (request, response) => {
    const { method = "GET", url = "", headers } = request;
    const body = Buffer.concat(await request.toArray());
    if (!reachable.isPublic || !reachable.app) {
      response.writeHead(404).end();
      return;
    }
    const signature = String(headers["x-hub-signature-256"]);
    const post = { body, headers: { "content-type": "application/json", "x-hub-signature-256": signature } };
    const answer = await reachable.app.fetch(url, { method, key: null, ...(method === "POST" ? post : {}) });
    response.writeHead(answer.status).end(await answer.text());
  });
  const env = {
    TIDINGS_WHATSAPP_BASE_URL: emulator.url,
    TIDINGS_PUBLIC_URL: `http://127.0.0.1:${receiver.port}`,
  };
  const app = await startTestApp({ startsAt, ...options, env });
  reachable.app = app;
  return {
    app,
    emulator,
    setPublic(isPublic: boolean) {
      reachable.isPublic = isPublic;
    },
    async control(path: string, body: object) {
      const json = JSON.stringify(body);
      const answer = await fetch(`${emulator.url}/emulator${path}`, { method: "POST", body: json });
      if (!answer.ok) {
        throw new Error(await answer.text());
      }
    },
    async [Symbol.asyncDispose]() {
      await app[Symbol.asyncDispose]();
      await emulator[Symbol.asyncDispose]();
      await receiver[Symbol.asyncDispose]();
    },
  };
}
