/** Links to uploads: expiry, signature, headers and ranges, and uploads in messages. */
import { createHash } from "node:crypto";
import { describe, expect, test } from "vitest";
import type { CallFailure } from "../src/client/index.ts";
import { messages } from "../tools/messages/index.ts";
import { startTestApp, useTestApp } from "./support/app.ts";
import { gif, mov, multipartForm, pdf, png, wav } from "./support/files.ts";
import { createOtherTenant } from "./support/other-tenant.ts";
import { createUploadHelpers, type UploadedFile } from "./support/uploads.ts";

const app = useTestApp();
const { upload } = createUploadHelpers(app);

describe("a link", () => {
  test("lasts seven days, and its response is cacheable and sandboxed", async () => {
    const { storage_url } = await upload({ bytes: png });
    const answer = await fetch(storage_url);
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      "x-content-type-options": "nosniff",
      "content-security-policy": expect.stringContaining("sandbox"),
      "content-disposition": "inline; filename=\"photo.png\"; filename*=UTF-8''photo.png",
      "cache-control": expect.stringMatching(/^private, max-age=60\d{4}, immutable$/),
      etag: `"${createHash("sha256").update(png).digest("hex")}"`,
    });
  });

  test("to a document downloads it under its name", async () => {
    const { storage_url } = await upload({ name: 'año "x".pdf', bytes: pdf });
    const disposition = (await fetch(storage_url)).headers.get("content-disposition");
    expect(disposition).toBe("attachment; filename=\"a_o x.pdf\"; filename*=UTF-8''a%C3%B1o%20x.pdf");
  });

  test.each<[string, string, number, string | null]>([
    ["HEAD", "", 200, null],
    ["GET", "bytes=0-3", 206, "bytes 0-3/70"],
    ["GET", "bytes=60-", 206, "bytes 60-69/70"],
    ["GET", "bytes=-4", 206, "bytes 66-69/70"],
    ["GET", "bytes=70-", 416, null],
    ["GET", "lines=1-2", 200, null],
  ])("answers %s with Range %j with status %i", async (method, range, status, contentRange) => {
    const { storage_url } = await upload({ bytes: png });
    const answer = await fetch(storage_url, { method, headers: range ? { range } : {} });
    expect([answer.status, answer.headers.get("content-range")]).toEqual([status, contentRange]);
    if (status === 206) {
      const [, from = 0, to = 0] = /(\d+)-(\d+)/.exec(contentRange ?? "") ?? [];
      const part = Buffer.from(await answer.arrayBuffer());
      expect(part.equals(png.subarray(Number(from), Number(to) + 1))).toBe(true);
    }
  });

  test("that was changed, or is another file's, is rejected", async () => {
    const [one, other] = [await upload({ bytes: png }), await upload({ bytes: gif, name: "a.gif" })];
    const [url, theirs] = [new URL(one.storage_url), new URL(other.storage_url)];
    const { expires = "", signature = "" } = Object.fromEntries(url.searchParams);
    for (const wrong of [
      `${url.pathname}?expires=${Number(expires) + 1}&signature=${signature}`,
      `${url.pathname}?expires=${expires}&signature=${signature.slice(0, -1)}`,
      `${url.pathname}?expires=${expires}`,
      `${url.pathname}?signature=${signature}`,
      `${url.pathname}?expires=${expires}&expires=${expires}&signature=${signature}`,
      `${theirs.pathname}?expires=${expires}&signature=${signature}`,
    ]) {
      const answer = await app.fetch(wrong, { key: null });
      expect([answer.status, await answer.json()]).toMatchObject([403, { error: { code: "link_invalid" } }]);
    }
    for (const path of [url.pathname, "/files/org_x/..%2f..%2fetc%2fpasswd", "/files/%2e%2e/x"]) {
      const answer = await app.fetch(path, { key: null });
      expect([answer.status, await answer.json()]).toMatchObject([404, { error: { type: "not_found" } }]);
    }
  });

  test("that has expired is rejected", async () => {
    const { storage_url } = await upload({ bytes: png });
    await app.advanceTime(7 * 24 * 3_600_000 + 2_000);
    expect((await fetch(storage_url)).status).toBe(403);
  });
});

test("a public file is not public any more without a CDN", async () => {
  await using later = await startTestApp();
  const answer = await later.fetch("/v1/uploads", { method: "POST", body: multipartForm({ bytes: png }) });
  const { data } = (await answer.json()) as { data: UploadedFile };
  const { queries } = later.server.database;
  await queries.updateTable("uploads").set({ is_public: true }).where("id", "=", data.id).execute();
  const [path = ""] = data.storage_url.slice(later.address.length).split("?");
  const statusOf = async (url: string) => {
    const answer = await fetch(url);
    // An unread response would keep the app from closing.
    await answer.arrayBuffer();
    return answer.status;
  };
  expect(await statusOf(later.address + path)).toBe(404);
  expect(await statusOf(data.storage_url)).toBe(200);
});

describe("an upload in a message", () => {
  const to = "+14155550123";
  const send = (type: "image" | "video" | "audio" | "document", media_url: string) =>
    app.call(messages.send_message, { to, type, media_url }).catch((error: CallFailure) => error);

  /** The media of the latest message on the phone. */
  async function latestMedia() {
    await app.runDueJobs();
    const answer = await app.fetch(`/simulator/phones/${encodeURIComponent(to)}/messages`);
    const { data } = (await answer.json()) as {
      data: { media: { url: string; file_name: string | null } }[];
    };
    return data[0]?.media;
  }

  test("reaches the channel with a new link, even after its own has expired", async () => {
    const { storage_url } = await upload({ name: "menu.pdf", bytes: pdf });
    await app.advanceTime(8 * 24 * 3_600_000);
    expect((await fetch(storage_url)).status).toBe(403);
    await send("document", storage_url.replace("127.0.0.1", "an-earlier-host"));
    const media = await latestMedia();
    expect(media?.file_name).toBe("menu.pdf");
    expect(media?.url).not.toBe(storage_url);
    expect((await fetch(media?.url ?? "")).status).toBe(200);
    expect(media).not.toHaveProperty("upload");
  });

  test("of another tenant is rejected like one that does not exist", async () => {
    const other = await createOtherTenant(app);
    const theirs = await app.fetch("/v1/uploads", {
      method: "POST",
      body: multipartForm({ bytes: png }),
      key: other.key,
    });
    const { data } = (await theirs.json()) as { data: UploadedFile };
    const none = data.storage_url.replace(/\/files\/[^?]+/, (path) => `${path.slice(0, -3)}xyz`);
    const failures = [await send("image", data.storage_url), await send("image", none)];
    for (const failure of failures) {
      expect(failure).toMatchObject({ status: 404, code: "upload_not_found", error: { param: "media_url" } });
    }
  });

  test("is rejected if the channel would reject its type or size", async () => {
    const large = await upload({ bytes: Buffer.concat([png, Buffer.alloc(5 * 1024 * 1024)]) });
    const animation = await upload({ name: "a.gif", bytes: gif });
    const film = await upload({ name: "a.mov", bytes: mov });
    const recording = await upload({ name: "a.wav", bytes: wav });
    const failures = [
      await send("image", large.storage_url),
      await send("image", animation.storage_url),
      await send("video", film.storage_url),
      await send("audio", recording.storage_url),
      await send("audio", animation.storage_url),
    ];
    for (const failure of failures) {
      expect(failure).toMatchObject({ status: 422, code: "media_not_sendable" });
    }
  });
});
