/**
 * Files of the WhatsApp emulator: upload, address, download and deletion, and files that are
 * fetched from a link.
 */
import type { RequestListener } from "node:http";
import { fileTypeFromBuffer } from "file-type";
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { type Receiver, startReceiver } from "../../test/support/receiver.ts";
import {
  app_id,
  approveTemplate,
  customer,
  errorOf,
  phone_number_id,
  upload,
  uploadSample,
  useEmulator,
} from "../../test/support/whatsapp-emulator.ts";

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

  test("whose declared type is no valid header are answered with an error, and the emulator goes on", async () => {
    const print = vi.spyOn(console, "error").mockReturnValue();
    const emulator = current();
    const id = await upload(emulator, "image/png; name=фото");
    const { body } = await emulator.graph("GET", id);
    const answer = await fetch(body.url, { headers: { authorization: "Bearer EAAemulator" } });
    expect(answer.status).toBe(500);
    expect(print).toHaveBeenCalledOnce();
    expect((await emulator.graph("GET", id)).status).toBe(200);
  });

  test.each(["image", "video", "audio", "document", "sticker"] as const)(
    "of a customer are real ones by default: %s",
    async (type) => {
      const emulator = current();
      await emulator.control("POST", "/inbound", { from: customer, media: { type } });
      await emulator.emulator.idle();
      const [message] = emulator.changes("messages").at(-1)?.value.messages ?? [];
      const headers = { authorization: "Bearer EAAemulator" };
      const bytes = await (await fetch(message[type].url, { headers })).arrayBuffer();
      const found = await fileTypeFromBuffer(new Uint8Array(bytes));
      expect(found?.mime).toBe(message[type].mime_type);
    },
  );

  test("are deleted", async () => {
    const emulator = current();
    const id = await upload(emulator, "image/png");
    expect((await emulator.graph("DELETE", id)).body).toEqual({ success: true });
    expect(errorOf(await emulator.graph("GET", id))).toEqual([400, 100, 33]);
  });
});

describe("a link", () => {
  const imageLimit = 5 * 1024 * 1024;
  const files: Record<string, RequestListener> = {
    "/photo.png": (_, response) => response.setHeader("content-type", "image/png").end("the bytes"),
    "/largest.png": (_, response) =>
      response.setHeader("content-type", "image/png").end(Buffer.alloc(imageLimit)),
    "/too-large.png": (_, response) =>
      response.setHeader("content-type", "image/png").end(Buffer.alloc(imageLimit + 1)),
    "/page": (_, response) => response.setHeader("content-type", "text/html").end("<p>"),
    "/bill.pdf": (_, response) => response.setHeader("content-type", "application/pdf").end("%PDF"),
    "/moved": (_, response) => response.writeHead(302, { location: "/photo.png" }).end(),
    "/moved-for-ever": (_, response) => response.writeHead(302, { location: "/moved-for-ever" }).end(),
    "/missing": (_, response) => response.writeHead(404).end(),
  };
  let server: Receiver;
  let address = "";

  beforeAll(async () => {
    server = await startReceiver((request, response) => files[request.url ?? ""]?.(request, response));
    address = `http://127.0.0.1:${server.port}`;
  });
  afterAll(() => server[Symbol.asyncDispose]());
  beforeEach(async () => {
    await current().control("POST", "/inbound", { from: customer, text: "Hi" });
  });

  async function sendImage(link: string) {
    expect((await current().send({ type: "image", image: { link } })).status).toBe(200);
    await current().advance(1_000);
    const statuses = current().statuses();
    const { data } = (await current().control("GET", `/customers/${customer}/messages`)).body;
    return {
      statuses: statuses.map(({ status }) => status),
      code: statuses.at(-1).errors?.[0].code,
      shown: data.filter(({ direction }: { direction: string }) => direction === "outbound"),
    };
  }

  test.each(["/photo.png", "/moved"])("%s is fetched, and the phone shows the file", async (path) => {
    const { statuses, shown } = await sendImage(address + path);
    expect(statuses).toEqual(["sent", "delivered"]);
    const file = { link: address + path, mime_type: "image/png", file_size: 9 };
    expect(shown).toMatchObject([{ type: "image", files: [file] }]);
    const { body } = await current().graph("GET", shown[0].files[0].media_id);
    const headers = { authorization: "Bearer EAAemulator" };
    expect(await (await fetch(body.url, { headers })).text()).toBe("the bytes");
  });

  test("to a file as large as an image may be is delivered", async () => {
    expect((await sendImage(`${address}/largest.png`)).statuses).toEqual(["sent", "delivered"]);
  });

  test.each(["/too-large.png", "/page", "/bill.pdf", "/moved-for-ever", "/missing"])(
    "to %s is accepted, and the message fails",
    async (path) => {
      const result = await sendImage(address + path);
      expect(result).toEqual({ statuses: ["failed"], code: 131053, shown: [] });
    },
  );

  test("to a host that does not answer is accepted, and the message fails", async () => {
    const result = await sendImage("http://127.0.0.1:1/photo.png");
    expect(result).toEqual({ statuses: ["failed"], code: 131053, shown: [] });
  });

  test("is fetched once in 10 minutes", async () => {
    const before = server.requests;
    await sendImage(`${address}/photo.png`);
    await current().advance(10_000);
    await sendImage(`${address}/photo.png`);
    expect(server.requests - before).toBe(1);
    await current().advance(600_000);
    await sendImage(`${address}/photo.png`);
    expect(server.requests - before).toBe(2);
  });

  test("in the header of a template is fetched too", async () => {
    const format = {
      type: "HEADER",
      format: "IMAGE",
      example: { header_handle: [await uploadSample(current())] },
    };
    await approveTemplate(current(), { components: [format, { type: "BODY", text: "Shipped today." }] });
    const image = { link: `${address}/missing` };
    const template = {
      name: "order_update",
      language: { code: "en_US" },
      components: [{ type: "header", parameters: [{ type: "image", image }] }],
    };
    expect((await current().send({ type: "template", template })).status).toBe(200);
    await current().advance(1_000);
    expect(current().statuses()).toMatchObject([{ status: "failed", errors: [{ code: 131053 }] }]);
  });

  test("that is still being fetched is forgotten by a reset", async () => {
    let begin = () => {};
    const began = new Promise<void>((resolve) => {
      begin = resolve;
    });
    files["/slow"] = () => begin();
    await current().send({ type: "image", image: { link: `${address}/slow` } });
    await began;
    await current().control("POST", "/reset");
    await current().control("POST", `/apps/${app_id}`, { callback_url: current().callbackUrl });
    await current().control("POST", "/inbound", { from: customer, text: "Hi again" });
    await current().advance(1_000);
    expect(current().statuses()).toEqual([]);
  });
});
