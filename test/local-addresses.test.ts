/** The settings for development: each opens what it names on this machine, and nothing else. */
import { describe, expect, test } from "vitest";
import { imports } from "../tools/imports.ts";
import { uploads } from "../tools/uploads.ts";
import { webhooks } from "../tools/webhooks.ts";
import { useTestApp } from "./support/app.ts";
import { expectFailure } from "./support/expect-failure.ts";

const url = "http://127.0.0.1:9/people.csv";

describe("TIDINGS_ALLOW_LOCAL_WEBHOOKS", () => {
  const app = useTestApp({ env: { TIDINGS_ALLOW_LOCAL_WEBHOOKS: "true" } });

  test("opens webhooks, and neither uploads nor imports", async () => {
    const { data } = await app.call(webhooks.create_webhook, { url, events: ["message.received"] });
    expect(data.url).toBe(url);
    const rejected = { status: 400, code: "url_not_allowed" };
    expect(await expectFailure(app.call(uploads.upload_file, { url }))).toMatchObject(rejected);
    expect(await expectFailure(app.call(imports.import_contacts, { url }))).toMatchObject(rejected);
  });
});

describe("TIDINGS_ALLOW_LOCAL_SOURCES", () => {
  const app = useTestApp({ env: { TIDINGS_ALLOW_LOCAL_SOURCES: "true" } });

  test("opens uploads and imports, and not webhooks", async () => {
    const create = app.call(webhooks.create_webhook, { url, events: ["message.received"] });
    expect(await expectFailure(create)).toMatchObject({ status: 400, code: "webhook_address_refused" });
    // No server listens on this port.
    expect(await expectFailure(app.call(uploads.upload_file, { url }))).toMatchObject({
      code: "source_failed",
    });
    expect((await app.call(imports.import_contacts, { url })).data.status).toBe("queued");
  });
});

describe("TIDINGS_SIMULATOR=off", () => {
  const app = useTestApp({ env: { TIDINGS_SIMULATOR: "off" } });

  test.each([
    ["POST", "/simulator/inbound"],
    ["GET", "/simulator/phones/+14155550123/messages"],
    ["POST", "/simulator/phones/+14155550123/read"],
    ["GET", "/simulator/faults"],
    ["PUT", "/simulator/faults"],
    ["GET", "/simulator/templates"],
    ["PUT", "/simulator/templates"],
  ])("%s %s answers 404", async (method, path) => {
    const answer = await app.fetch(path, { method, ...(method === "GET" ? {} : { json: {} }) });
    expect(answer.status).toBe(404);
    expect(await answer.json()).toMatchObject({ error: { code: "route_not_found" } });
  });
});
