/** How the WhatsApp emulator delivers webhooks: retries, addresses and the handshake. */
import { createHmac } from "node:crypto";
import { describe, expect, test } from "vitest";
import { startReceiver } from "../../test/support/receiver.ts";
import { app_id, customer, errorOf, useEmulator, waba_id } from "../../test/support/whatsapp-emulator.ts";

const current = useEmulator();

describe("deliveries", () => {
  test("are tried again after 1, 2 and 4 seconds until the receiver answers 200", async () => {
    const emulator = current();
    emulator.status = 503;
    await emulator.control("POST", "/inbound", { from: customer, text: "Hi" });
    await emulator.emulator.idle();
    for (const ms of [999, 1, 2_000]) {
      await emulator.advance(ms);
    }
    emulator.status = 200;
    await emulator.advance(4_000);
    const { body } = await emulator.control("GET", "/webhooks");
    expect(body.data[0]).toMatchObject({
      state: "delivered",
      attempts: [
        { at: "2026-11-22T12:00:00.000Z", result: 503 },
        { at: "2026-11-22T12:00:01.000Z", result: 503 },
        { at: "2026-11-22T12:00:03.000Z", result: 503 },
        { at: "2026-11-22T12:00:07.000Z", result: 200 },
      ],
    });
    expect(emulator.received).toHaveLength(1);
  });

  test("go to the address that the subscription gives, after it has verified", async () => {
    const { graph, callbackUrl, control, emulator, received } = current();
    const subscribe = (verify_token: string) =>
      graph("POST", `${waba_id}/subscribed_apps`, {
        override_callback_uri: `${callbackUrl}/other`,
        verify_token,
      });
    expect(errorOf(await subscribe("wrong"))).toEqual([400, 2200]);
    expect((await subscribe("emulator-verify-token")).body.success).toBe(true);
    const list = await graph("GET", `${waba_id}/subscribed_apps`);
    expect(list.body.data[0]).toMatchObject({
      whatsapp_business_api_data: { id: app_id },
      override_callback_uri: `${callbackUrl}/other`,
    });
    await control("POST", "/inbound", { from: customer, text: "Hi" });
    await emulator.idle();
    expect(received).toHaveLength(1);
    const { body } = await control("GET", "/webhooks");
    expect(body.data[0].url).toBe(`${callbackUrl}/other`);
  });

  test("need no proof of the app's secret, and a right one if there is one", async () => {
    const { graph } = current();
    const proofBy = (secret: string) => createHmac("sha256", secret).update("EAAemulator").digest("hex");
    const list = (proof: string) => graph("GET", `${waba_id}/subscribed_apps?appsecret_proof=${proof}`);
    expect((await list(proofBy("0123456789abcdef0123456789abcdef"))).status).toBe(200);
    expect(errorOf(await list(proofBy("another secret")))).toEqual([400, 100]);
  });

  test("stop when the app is not subscribed any more", async () => {
    const { graph, control, emulator, received } = current();
    await graph("DELETE", `${waba_id}/subscribed_apps`);
    await control("POST", "/inbound", { from: customer, text: "Hi" });
    await emulator.idle();
    expect(received).toEqual([]);
    expect((await graph("GET", `${waba_id}/subscribed_apps`)).body.data).toEqual([]);
  });

  test("need an address that answers the challenge", async () => {
    await using receiver = await startReceiver((_, response) => response.end("no challenge"));
    const url = `http://127.0.0.1:${receiver.port}/`;
    const answer = await current().control("POST", `/apps/${app_id}`, { callback_url: url });
    expect([answer.status, answer.body.error.message]).toEqual([400, expect.stringContaining("challenge")]);
  });

  test("of any field can be sent", async () => {
    const { control, changes, emulator } = current();
    const value = { event: "ACCOUNT_VIOLATION" };
    await control("POST", "/webhooks", { field: "account_update", value });
    await emulator.idle();
    expect(changes()).toEqual([{ field: "account_update", value }]);
  });
});
