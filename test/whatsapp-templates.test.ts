/** The review of templates by Meta: submission, changes, lists in pages, deletion, reports. */
import { beforeEach, describe, expect, test } from "vitest";
import { fromComponents, toComponents } from "../src/adapters/channel/whatsapp/templates/components.ts";
import type { InputOf } from "../tools/contract/index.ts";
import { messages } from "../tools/messages/index.ts";
import { templates } from "../tools/templates/index.ts";
import { uploads } from "../tools/uploads.ts";
import examples from "./fixtures/whatsapp/meta-openapi-examples.json" with { type: "json" };
import type { TestApp } from "./support/app.ts";
import { expectFailure } from "./support/expect-failure.ts";
import { jpeg } from "./support/files.ts";
import {
  credentials,
  deliver,
  type GraphApi,
  graphError,
  type Inbox,
  startGraphApi,
  startWhatsAppApp,
  useWhatsApp,
} from "./support/whatsapp.ts";

let graph: GraphApi;
let app: TestApp;
let inbox: Inbox;
/** What Meta has, by id. */
const listed = new Map<string, Record<string, unknown>>();

useWhatsApp((started) => {
  ({ graph, app, inbox } = started);
});
beforeEach(() => {
  listed.clear();
  graph.routes["GET message_templates"] = () => ({ body: { data: [...listed.values()] } });
  graph.routes["POST message_templates"] = ({ body }) => {
    const id = String(9000 + listed.size);
    listed.set(id, { id, status: "PENDING", ...(body as object) });
    return { body: { id, status: "PENDING", category: "UTILITY" } };
  };
  graph.requests.length = 0;
});

type Input = InputOf<typeof templates.create_template>;
let number = 0;
async function draft(more: Partial<Input> = {}) {
  number += 1;
  const base = { name: `Order_${number}`, category: "utility" as const, template_data: { body: "Hello." } };
  return (
    await app.call(templates.create_template, { ...base, inbox_id: inbox.id, language: "en_US", ...more })
  ).data;
}
const submit = (id: string) => app.call(templates.submit_template, { id });
const read = async (id: string) => (await app.call(templates.get_template, { id })).data;
const last = (suffix: string) => graph.requests.findLast(({ path }) => path.split("?")[0]?.endsWith(suffix));

const report = (field: string, name: string) => ({
  field,
  value: {
    event: "APPROVED",
    message_template_id: 1,
    message_template_name: name,
    message_template_language: "en-US",
  },
});

/** Meta's decision, and its report. */
async function decide(id: string, change: object) {
  const { name, external_id } = await read(id);
  listed.set(external_id ?? "", { ...listed.get(external_id ?? ""), ...change });
  await deliver(app, inbox, report("message_template_status_update", name.toLowerCase()));
}

test("a template is created at Meta with its components and examples, and approved by a report", async () => {
  const { id } = await draft({
    template_data: {
      header: { type: "text", text: "Order {{1}}" },
      body: "Hi {{1}}, your order {{2}} has left our store today.",
      footer: "Thank you",
      buttons: [
        { type: "url", text: "Track", url: "https://example.com/{{1}}" },
        { type: "phone_number", text: "Call", phone_number: "+14155550100" },
      ],
    },
    variables: [
      { name: "code", component: "HEADER", example: "A7" },
      { name: "name", component: "BODY", example: "Ann" },
      { name: "order", component: "BODY", example: "860198" },
      { name: "track", component: "BUTTONS", example: "a7" },
    ],
  });
  const name = (await read(id)).name;
  expect((await submit(id)).data).toMatchObject({ status: "pending", external_id: "9000" });
  expect(last("/message_templates")).toMatchObject({
    method: "POST",
    path: `/v26.0/${credentials.waba_id}/message_templates`,
    body: {
      name: name.toLowerCase(),
      language: "en_US",
      category: "UTILITY",
      parameter_format: "POSITIONAL",
      components: [
        { type: "HEADER", format: "TEXT", text: "Order {{1}}", example: { header_text: ["A7"] } },
        {
          type: "BODY",
          text: "Hi {{1}}, your order {{2}} has left our store today.",
          example: { body_text: [["Ann", "860198"]] },
        },
        { type: "FOOTER", text: "Thank you" },
        {
          type: "BUTTONS",
          buttons: [
            {
              type: "URL",
              text: "Track",
              url: "https://example.com/{{1}}",
              example: ["a7"],
            },
            { type: "PHONE_NUMBER", text: "Call", phone_number: "+14155550100" },
          ],
        },
      ],
    },
  });
  await decide(id, { status: "APPROVED", quality_score: { score: "GREEN" } });
  expect(await read(id)).toMatchObject({ status: "approved", is_sendable: true, quality_rating: "GREEN" });
});

test("a rejection has its reason, and another category of Meta's is stored", async () => {
  const { id } = await draft();
  await submit(id);
  await decide(id, { status: "REJECTED", rejected_reason: "ABUSIVE_CONTENT", category: "MARKETING" });
  expect(await read(id)).toMatchObject({
    status: "rejected",
    rejection_reason: "ABUSIVE_CONTENT",
    category: "marketing",
  });
});

test("a change goes to the template's id", async () => {
  const { id } = await draft();
  await submit(id);
  await decide(id, { status: "REJECTED", rejected_reason: "INVALID_FORMAT" });
  graph.routes["POST 9000"] = () => ({ body: { success: true } });
  await app.call(templates.update_template, { id, template_data: { body: "Hello again." } });
  expect((await submit(id)).data.status).toBe("pending");
  expect(last("/9000")?.body).toEqual({
    category: "UTILITY",
    components: [{ type: "BODY", text: "Hello again." }],
  });
});

test("the sample of a header is uploaded first, from our store", async () => {
  graph.routes["POST uploads"] = () => ({ body: { id: "upload:MTphdHRhY2htZW50?sig=ARZq" } });
  graph.routes["POST upload:MTphdHRhY2htZW50"] = () => ({ body: { h: "4::aW1hZ2U" } });
  const content_base64 = jpeg.toString("base64");
  const { data: upload } = await app.call(uploads.upload_file, { content_base64, file_name: "a.jpg" });
  const header = { type: "image" as const, media_url: upload.storage_url };
  const { id } = await draft({ template_data: { header, body: "Hello." } });
  await submit(id);
  const session = last("/uploads");
  expect(session?.path).toContain(`/v26.0/${credentials.app_id}/uploads?`);
  expect(session?.path).toContain(`file_length=${jpeg.length}&file_type=image%2Fjpeg`);
  expect(last("/upload:MTphdHRhY2htZW50")).toMatchObject({
    body: jpeg,
    headers: { file_offset: "0", authorization: `OAuth ${credentials.access_token}` },
  });
  expect(last("/message_templates")?.body).toMatchObject({
    components: [
      { type: "HEADER", format: "IMAGE", example: { header_handle: ["4::aW1hZ2U"] } },
      { type: "BODY" },
    ],
  });
});

describe("a submission", () => {
  test("of an authentication template is refused with the reason, without asking Meta", async () => {
    const { id } = await draft({
      category: "authentication",
      template_data: { body: "Your code is {{1}} now." },
    });
    const failure = await expectFailure(submit(id));
    expect(failure).toMatchObject({ status: 422, code: "template_refused" });
    expect(failure.message).toContain("create_otp_template");
    expect((await read(id)).status).toBe("draft");
    expect(graph.requests).toEqual([]);
  });

  test("that Meta rejects is a draft again, with Meta's sentence", async () => {
    graph.routes["POST message_templates"] = () =>
      graphError(100, { error_subcode: 2388299, error_user_msg: "Variables can't be at the start." });
    const { id } = await draft();
    const failure = await expectFailure(submit(id));
    expect([failure.code, (await read(id)).status]).toEqual(["template_refused", "draft"]);
    expect(failure.message).toContain("Variables can't be at the start.");
  });

  test("at a limit can be repeated", async () => {
    graph.routes["POST message_templates"] = () => graphError(80007);
    const { id } = await draft();
    expect((await expectFailure(submit(id))).code).toBe("authority_unavailable");
    expect((await read(id)).status).toBe("draft");
  });

  test("whose answer is lost is found in Meta's list", async () => {
    const create = graph.routes["POST message_templates"];
    graph.routes["POST message_templates"] = (request) => {
      create?.(request);
      return "break";
    };
    const { id } = await draft();
    expect((await submit(id)).data).toMatchObject({ status: "pending", external_id: "9000" });
  });
});

test("a sync reads every page, adds what was created at Meta, and leaves out what can't be sent", async () => {
  const [example] = examples.operations["get /{Version}/{WABA-ID}/message_templates"];
  const data: object[] = example?.value.data ?? [];
  const carousel = {
    id: "1",
    name: "carousel",
    language: "en",
    status: "APPROVED",
    category: "MARKETING",
    components: [
      { type: "BODY", text: "Hi" },
      { type: "CAROUSEL", cards: [] },
    ],
  };
  const named = {
    id: "2",
    name: "named",
    language: "en",
    status: "APPROVED",
    category: "UTILITY",
    parameter_format: "NAMED",
    components: [{ type: "BODY", text: "Hi {{Name}}, hello" }],
  };
  graph.routes["GET message_templates"] = ({ path }) => {
    const isSecond = path.includes("after=next%3D");
    const paging = {
      cursors: { after: "next=" },
      ...(isSecond ? {} : { next: "https://graph.facebook.com/next" }),
    };
    return { body: { data: isSecond ? [data[1], carousel, named] : [data[0]], paging } };
  };
  const { data: synced } = await app.call(templates.sync_templates, { inbox_id: inbox.id });
  expect(synced.skipped).toEqual([
    { name: "carousel", language: "en", reason: "carousel" },
    { name: "named", language: "en", reason: "unknown" },
  ]);
  const { data: known } = await app.call(templates.list_templates, { status: "approved", per_page: 100 });
  expect(known.map(({ name }) => name)).toEqual(expect.arrayContaining(["hello_world", "2023_april_promo"]));
  expect(known.filter(({ name }) => ["carousel", "named"].includes(name))).toEqual([]);
});

test("a deleted template is deleted at Meta by its id and name", async () => {
  const { id, name } = await draft();
  await submit(id);
  graph.routes["DELETE message_templates"] = () => ({ body: { success: true } });
  await app.call(templates.delete_template, { id });
  expect(last("/message_templates")).toMatchObject({
    method: "DELETE",
    path: `/v26.0/${credentials.waba_id}/message_templates?hsm_id=9000&name=${name.toLowerCase()}`,
  });
});

test("a message that Meta refuses for its template has the template read again", async () => {
  const { id, name } = await draft();
  await submit(id);
  await decide(id, { status: "APPROVED" });
  listed.set("9000", { ...listed.get("9000"), status: "PAUSED" });
  graph.routes["POST messages"] = () => graphError(132015);
  const template = { name, language: "en_US" };
  const message = { to: "+14155550123", type: "template" as const, template, inbox_id: inbox.id };
  await app.call(messages.send_message, message);
  await app.runDueJobs();
  expect(await read(id)).toMatchObject({ status: "paused", is_sendable: false });
});

describe("Meta's example of a template with", () => {
  const creations = examples.operations["post /{Version}/{WABA-ID}/message_templates"];
  const names = [
    "Create template w/ image header, text body, text footer, and 2 call-to-action buttons",
    "Create template w/ text header, text body, text footer, and 2 quick reply buttons",
    "Create template w/ document header, text body, a phone number button, and a URL button",
    "Create template w/ location header, text body, text footer, and a website buttons",
  ];

  test.each(names)("%s is read and written alike", (name) => {
    const { components = [] } = creations.find((one) => one.name === name)?.value ?? {};
    const read = fromComponents(components, "POSITIONAL");
    const [header] = components as { example?: { header_handle?: string[] } }[];
    const [handle] = header?.example?.header_handle ?? [];
    expect(read && toComponents(read, handle)).toEqual(components);
  });

  test.each(creations.filter(({ name }) => /Flow|authentication|catalog|multi-product/.test(name)))(
    "$name can't be sent",
    ({ value }) => {
      expect(fromComponents((value as { components: object[] }).components, "POSITIONAL")).toBe(null);
    },
  );
});

test("an API that can't be reached gets nothing: the template stays a draft, and a submitted one stays", async () => {
  const other = await startGraphApi();
  const { app, inbox } = await startWhatsAppApp(other);
  other.routes["POST message_templates"] = () => ({ body: { id: "9100" } });
  other.routes["GET message_templates"] = () => ({ body: { data: [] } });
  const create = async (name: string) => {
    const input = {
      name,
      category: "utility" as const,
      template_data: { body: "Hello." },
      inbox_id: inbox.id,
    };
    return (await app.call(templates.create_template, input)).data.id;
  };
  const submitted = await create("submitted");
  await app.call(templates.submit_template, { id: submitted });
  const id = await create("unsent");
  await other[Symbol.asyncDispose]();
  const unreachable = { status: 503, code: "authority_unavailable" };
  expect(await expectFailure(app.call(templates.submit_template, { id }))).toMatchObject(unreachable);
  expect((await app.call(templates.get_template, { id })).data.status).toBe("draft");
  expect(await expectFailure(app.call(templates.delete_template, { id: submitted }))).toMatchObject(
    unreachable,
  );
  expect((await app.call(templates.get_template, { id: submitted })).data.status).toBe("pending");
  await app[Symbol.asyncDispose]();
});
