/** The media of messages on the simulated channel: fetched at the delivery, or rejected with 131053. */
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { messages } from "../tools/messages/index.ts";
import { uploads } from "../tools/uploads.ts";
import { useTestApp } from "./support/app.ts";
import { jpeg } from "./support/files.ts";
import { startUpstream, type Upstream } from "./support/scripted-service.ts";
import { openPhone, setFaults } from "./support/simulator.ts";

const app = useTestApp({ env: { TIDINGS_ALLOW_LOCAL_SOURCES: "true" } });
let source: Upstream;
let count = 0;

beforeAll(async () => {
  source = await startUpstream(({ path }) => {
    const body = path.startsWith("/large") ? Buffer.alloc(5 * 1024 * 1024 + 1) : jpeg;
    const type = path.startsWith("/page") ? "text/html; charset=utf-8" : "image/jpeg";
    const headers = { "content-type": type, "content-length": String(body.length) };
    return path.startsWith("/gone") ? { status: 404 } : { headers, body };
  });
});
afterAll(() => source[Symbol.asyncDispose]());
afterEach(() => setFaults(app, {}));

async function sendImage(media_url: string) {
  count += 1;
  const to = `+1415555${9000 + count}`;
  const { data } = await app.call(messages.send_message, { to, type: "image", media_url });
  await app.advanceTime(2_000);
  const { conversation_id, id: message_id } = data;
  const read = await app.call(messages.get_message, { conversation_id, message_id });
  return { ...read.data, to };
}

test("media is fetched at the delivery, and what is shown has its address", async () => {
  const { to, status } = await sendImage(`${source.url}/photo.jpg`);
  expect(status).toBe("delivered");
  expect(await openPhone(app, to).listMessages()).toMatchObject([
    { type: "image", media: { url: `${source.url}/photo.jpg` } },
  ]);
  expect(source.requests.map(({ path }) => path)).toContain("/photo.jpg");
});

test.each([
  ["gone.jpg", "The media can't be fetched: its address answered 404."],
  ["page.jpg", "The media of type image is text/html; send one of image/jpeg, image/png."],
  ["large.jpg", "The media can't be fetched: The response of 127.0.0.1 is too large."],
])("an image at %s is accepted, and fails with 131053", async (path, detail) => {
  const { status, error } = await sendImage(`${source.url}/${path}`);
  expect(status).toBe("failed");
  expect(error).toMatchObject({ code: "media_rejected", channel_code: 131053, detail });
});

test("an address that no host answers fails the message", async () => {
  const { status, error } = await sendImage("http://127.0.0.1:1/photo.jpg");
  expect([status, error?.channel_code]).toEqual(["failed", 131053]);
});

test("with fetch_media false nothing is fetched", async () => {
  await setFaults(app, { fetch_media: false });
  const { status } = await sendImage(`${source.url}/gone-offline.jpg`);
  expect(status).toBe("delivered");
  expect(source.requests.map(({ path }) => path)).not.toContain("/gone-offline.jpg");
});

test("an upload is delivered, and its file is not in what the phone shows", async () => {
  const content_base64 = jpeg.toString("base64");
  const { data: file } = await app.call(uploads.upload_file, { content_base64, file_name: "photo.jpg" });
  const { to, status } = await sendImage(file.storage_url);
  expect(status).toBe("delivered");
  const [shown] = await openPhone(app, to).listMessages();
  expect(Object.keys((shown as unknown as { media: object }).media).sort()).toEqual([
    "caption",
    "file_name",
    "url",
  ]);
});

test("one address is fetched once in ten minutes", async () => {
  const url = `${source.url}/news.jpg`;
  const fetched = () => source.requests.filter(({ path }) => path === "/news.jpg").length;
  await sendImage(url);
  await sendImage(url);
  expect(fetched()).toBe(1);
  await app.advanceTime(10 * 60_000);
  await sendImage(url);
  expect(fetched()).toBe(2);
});
