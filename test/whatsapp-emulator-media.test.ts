/** Files of the WhatsApp emulator: upload, address, download and deletion. */
import { describe, expect, test } from "vitest";
import { customer, errorOf, phone_number_id, upload, useEmulator } from "./support/whatsapp-emulator.ts";

const current = useEmulator();

describe("files", () => {
  test("have an address that is valid for 5 minutes and needs the token", async () => {
    const emulator = current();
    const id = await upload(emulator, "image/png", "the bytes");
    const { body } = await emulator.graph("GET", `${id}?phone_number_id=${phone_number_id}`);
    expect(body).toMatchObject({ id, mime_type: "image/png", file_size: 9, messaging_product: "whatsapp" });
    const headers = { authorization: "Bearer EAAemulator" };
    expect((await fetch(body.url)).status).toBe(401);
    expect(await (await fetch(body.url, { headers })).text()).toBe("the bytes");
    await emulator.advance(300_000);
    expect((await fetch(body.url, { headers })).status).toBe(404);
    await emulator.advance(30 * 24 * 3_600_000);
    expect(errorOf(await emulator.graph("GET", id))).toEqual([400, 100, 33]);
  });

  test("of an unsupported type or of another kind are refused or fail", async () => {
    const emulator = current();
    expect(await upload(emulator, "application/x-msdownload")).toBeUndefined();
    const id = await upload(emulator, "application/pdf");
    await emulator.control("POST", "/inbound", { from: customer, text: "Hi" });
    await emulator.send({ type: "image", image: { id } });
    await emulator.advance(1_000);
    expect(emulator.statuses()[0].errors[0].code).toBe(131053);
  });

  test("are deleted", async () => {
    const emulator = current();
    const id = await upload(emulator, "image/png");
    expect((await emulator.graph("DELETE", id)).body).toEqual({ success: true });
    expect(errorOf(await emulator.graph("GET", id))).toEqual([400, 100, 33]);
  });
});
