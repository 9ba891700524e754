/** Templates: one of each name and language in an inbox, from the draft to its deletion. */
import { expect, test } from "vitest";
import { inboxes } from "../tools/inboxes.ts";
import { organization } from "../tools/organization.ts";
import { templates } from "../tools/templates/index.ts";
import { useTestApp } from "./support/app.ts";
import { expectFailure } from "./support/expect-failure.ts";
import { png } from "./support/files.ts";
import { createUploadHelpers } from "./support/uploads.ts";

const app = useTestApp();
const uploads = createUploadHelpers(app);

type Input = Parameters<typeof app.call<typeof templates.create_template>>[1];
let created = 0;

const create = async (changes: Partial<Input> = {}) => {
  created += 1;
  const input = {
    name: `greeting_${created}`,
    category: "utility" as const,
    template_data: { body: "Hello {{1}}, your order {{2}} is on its way to you." },
    ...changes,
  };
  return (await app.call(templates.create_template, input)).data;
};

const get = async (id: string) => (await app.call(templates.get_template, { id })).data;
const submit = (id: string) => app.call(templates.submit_template, { id });

test("a draft has its inbox, language, variables and warnings", async () => {
  const template = await create({ name: "Order_Update" });
  const { data: inboxList } = await app.call(inboxes.list_inboxes, {});
  expect(template).toEqual({
    id: expect.stringMatching(/^tpl_/),
    name: "Order_Update",
    channel: "whatsapp",
    category: "utility",
    language: "en",
    inbox_id: inboxList[0]?.id,
    status: "draft",
    is_sendable: false,
    is_read_only: false,
    template_data: { body: "Hello {{1}}, your order {{2}} is on its way to you." },
    variables: [
      { name: "1", component: "BODY", example: "1" },
      { name: "2", component: "BODY", example: "2" },
    ],
    warnings: [
      expect.objectContaining({ code: "example_missing", field: "variables[0].example" }),
      expect.objectContaining({ code: "example_missing", field: "variables[1].example" }),
    ],
    quality_rating: null,
    rejection_reason: null,
    raw_status: null,
    missing_at_authority: false,
    external_id: null,
    created_at: app.now().toISOString(),
    updated_at: app.now().toISOString(),
  });
  expect(await get(template.id)).toEqual(template);
});

test("a name is unique in its language and inbox, ignoring case", async () => {
  const first = await create({ name: "Welcome" });
  const again = await expectFailure(create({ name: "wELCOME" }));
  expect(again).toMatchObject({
    status: 409,
    code: "template_exists",
    error: { existing_id: first.id, param: "name" },
  });
  expect((await create({ name: "welcome", language: "pt_BR" })).language).toBe("pt_BR");
  const { data: inbox } = await app.call(inboxes.create_inbox, { name: "Two", phone_number: "+14155550177" });
  expect((await create({ name: "welcome", inbox_id: inbox.id })).inbox_id).toBe(inbox.id);
});

test("of several concurrent creations of one name, one succeeds", async () => {
  const outcomes = await Promise.allSettled(["same", "Same", "SAME"].map((name) => create({ name })));
  expect(outcomes.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
  const failures = outcomes.flatMap((one) => (one.status === "rejected" ? [one.reason.code] : []));
  expect(failures).toEqual(["template_exists", "template_exists"]);
});

const body = "Hello.";
const invalid: readonly [what: string, changes: object, param: string][] = [
  ["a name with a hyphen", { name: "order-update" }, "name"],
  ["a name of 513 characters", { name: "n".repeat(513) }, "name"],
  ["an unknown category", { category: "news" }, "category"],
  ["a language that is not a code", { language: "English" }, "language"],
  ["a body of 1,025 characters", { template_data: { body: "b".repeat(1025) } }, "template_data.body"],
  ["no body", { template_data: { footer: "f" } }, "template_data.body"],
  ["a blank body", { template_data: { body: " \n " } }, "template_data.body"],
  [
    "a blank button",
    { template_data: { body, buttons: [{ type: "quick_reply", text: " " }] } },
    "template_data.buttons[0].text",
  ],
  [
    "a blank header",
    { template_data: { body, header: { type: "text", text: " " } } },
    "template_data.header.text",
  ],
  [
    "four buttons",
    { template_data: { body, buttons: ["a", "b", "c", "d"].map((text) => ({ type: "quick_reply", text })) } },
    "template_data.buttons",
  ],
  [
    "a button of an unknown type",
    { template_data: { body, buttons: [{ type: "copy", text: "Copy" }] } },
    "template_data.buttons[0].type",
  ],
  [
    "a url button without its address",
    { template_data: { body, buttons: [{ type: "url", text: "Track" }] } },
    "template_data.buttons[0].url",
  ],
  [
    "a call button without its number",
    { template_data: { body, buttons: [{ type: "phone_number", text: "Call" }] } },
    "template_data.buttons[0].phone_number",
  ],
  [
    "a text header without text",
    { template_data: { body, header: { type: "text" } } },
    "template_data.header.text",
  ],
  [
    "an image header without a sample",
    { template_data: { body, header: { type: "image" } } },
    "template_data.header.media_url",
  ],
  [
    "a text header with media",
    { template_data: { body, header: { type: "text", text: "T", media_url: "https://example.com/a.png" } } },
    "template_data.header.media_url",
  ],
  [
    "an image header with a text",
    { template_data: { body, header: { type: "image", text: "T", media_url: "https://example.com/a.png" } } },
    "template_data.header.text",
  ],
  [
    "a sample that is no address",
    { template_data: { body, header: { type: "image", media_url: "a.png" } } },
    "template_data.header.media_url",
  ],
];

test.each(invalid)("%s is rejected", async (_, changes, param) => {
  const failure = await expectFailure(create(changes));
  expect({ status: failure.status, code: failure.code, param: failure.error?.param }).toEqual({
    status: 400,
    code: "invalid_request",
    param,
  });
});

test("the language is the organization's unless the template names one", async () => {
  await app.call(organization.update_organization, { default_language: "pt_BR" });
  expect((await create()).language).toBe("pt_BR");
  expect((await create({ language: "es" })).language).toBe("es");
  await app.call(organization.update_organization, { default_language: null });
  expect((await create()).language).toBe("en");
});

test("an inbox that does not exist is not found", async () => {
  const failure = await expectFailure(create({ inbox_id: "inb_none" }));
  expect(failure).toMatchObject({ status: 404, code: "inbox_not_found", error: { param: "inbox_id" } });
});

const counts: readonly [variables: Input["variables"], message: string][] = [
  [[{ name: "customer", component: "BODY" }], "The BODY has 2 variables, and variables names 1."],
  [[{ name: "topic", component: "HEADER" }], "The HEADER has 0 variables, and variables names 1."],
  [
    [1, 2, 3].map((number) => ({ name: `v${number}`, component: "BODY" as const })),
    "The BODY has 2 variables, and variables names 3.",
  ],
];

test.each(counts)("a wrong number of variables is rejected: %j", async (variables, message) => {
  const failure = await expectFailure(create({ variables }));
  expect(failure).toMatchObject({ status: 400, code: "template_variables_mismatch", message });
  expect(failure.error?.param).toBe("variables");
});

test("a draft that was never submitted gets another name and language, but not those of another one", async () => {
  const { id, template_data, variables } = await create({ name: "First" });
  const change = (changes: object) => app.call(templates.update_template, { id, ...changes });
  expect((await change({ name: "Second", language: "pt_BR" })).data).toMatchObject({
    id,
    name: "Second",
    language: "pt_BR",
    template_data,
    variables,
    status: "draft",
  });
  expect((await create({ name: "First" })).name).toBe("First");
  const other = await create({ name: "Third", language: "pt_BR" });
  expect(await expectFailure(change({ name: "tHIRD" }))).toMatchObject({
    status: 409,
    code: "template_exists",
    error: { existing_id: other.id, param: "name" },
  });
});

test("a template that was submitted keeps its name and language", async () => {
  const { id, name } = await create({ template_data: { body: "Our news is here." } });
  await submit(id);
  const change = (changes: object) => app.call(templates.update_template, { id, ...changes });
  const inReview = { status: 409, code: "template_not_editable", error: { current_state: "pending" } };
  expect(await expectFailure(change({ name: "other" }))).toMatchObject(inReview);
  await app.advanceTime(1_000);
  for (const [param, value] of [
    ["name", "other"],
    ["language", "de"],
  ] as const) {
    expect(await expectFailure(change({ [param]: value }))).toMatchObject({
      status: 409,
      code: "template_name_fixed",
      error: { param },
    });
  }
  expect((await change({ name, language: "en", category: "utility" })).data.name).toBe(name);
});

const given = ["customer", "order"];
const first = "Hello {{1}}, your order {{2}} is on its way to you.";
const renumbered: readonly [earlier: string, text: string, names: readonly string[]][] = [
  [first, "Hello {{1}}, your order {{2}} arrives on {{3}} at your door.", ["customer", "order", "3"]],
  [first, "On {{1}}: hello {{2}}, your order {{3}} is on its way to you.", ["1", "customer", "order"]],
  [first, "Your order {{1}} is on its way to you. Hello {{2}}, thank you.", ["order", "customer"]],
  [first, "We have sent your order {{1}} today.", ["order"]],
  ["Hello {{1}}, your order {{3}} is here.", "Hello {{1}}, your order {{2}} is here.", given],
  [first, "Guten Tag {{1}}, Ihre Bestellung {{2}} ist da.", given],
];

test.each(renumbered)("variables of %j keep their names in %j", async (earlier, text, names) => {
  const variables = given.map((name) => ({ name, component: "BODY" as const }));
  const { id } = await create({ template_data: { body: earlier }, variables });
  const { data } = await app.call(templates.update_template, { id, template_data: { body: text } });
  expect(data.variables.map(({ name }) => name)).toEqual(names);
});

test("variables that were given no name are named after their new number", async () => {
  const { id } = await create({ template_data: { body: first } });
  const body = "On {{1}}: hello {{2}}, your order {{3}} is on its way to you.";
  const { data } = await app.call(templates.update_template, { id, template_data: { body } });
  expect(data.variables.map(({ name, example }) => [name, example])).toEqual([
    ["1", "1"],
    ["2", "2"],
    ["3", "3"],
  ]);
});

test("variables keep their names when the text changes", async () => {
  const names = (variables: readonly { name: string }[]) => variables.map(({ name }) => name);
  const variables = ["customer", "order"].map((name) => ({
    name,
    component: "BODY" as const,
    example: "X1",
  }));
  const { id } = await create({ variables });
  const update = async (text: string) =>
    (await app.call(templates.update_template, { id, template_data: { body: text } })).data;
  expect(names((await update("Dear {{1}}, we have sent your order {{2}} today.")).variables)).toEqual([
    "customer",
    "order",
  ]);
  expect(names((await update("Dear {{1}}, we have sent your order today.")).variables)).toEqual(["customer"]);
  const { data } = await app.call(templates.update_template, {
    id,
    variables: [{ name: "who", component: "BODY" }],
  });
  expect(data.variables).toEqual([{ name: "who", component: "BODY", example: "who" }]);
});

test("lists are filtered, searched, sorted and paged", async () => {
  const make = (name: string, changes: Partial<Input> = {}) => create({ name: `zz_${name}`, ...changes });
  await make("b", { category: "marketing" });
  await app.advanceTime(1_000);
  const created_at = app.now().toISOString();
  await make("c", { language: "de" });
  await app.advanceTime(1_000);
  await make("a");
  const list = async (query: object) => {
    const { data, meta } = await app.call(templates.list_templates, { search: "ZZ_", ...query });
    return { names: data.map(({ name }) => name.slice(3)).join(), total: meta.total };
  };
  expect(await list({})).toEqual({ names: "a,c,b", total: 3 });
  expect(await list({ sort: "oldest" })).toEqual({ names: "b,c,a", total: 3 });
  expect(await list({ sort: "name-asc" })).toEqual({ names: "a,b,c", total: 3 });
  expect(await list({ sort: "name-desc" })).toEqual({ names: "c,b,a", total: 3 });
  expect(await list({ category: "marketing" })).toEqual({ names: "b", total: 1 });
  expect(await list({ language: "de" })).toEqual({ names: "c", total: 1 });
  expect(await list({ status: "approved" })).toEqual({ names: "", total: 0 });
  expect(await list({ per_page: 2, page: 2 })).toEqual({ names: "b", total: 3 });
  expect(await list({ search: "zz_c" })).toEqual({ names: "c", total: 1 });
  const { data } = await app.call(templates.list_templates, { search: "zz_c" });
  expect(data).toEqual([
    {
      id: expect.stringMatching(/^tpl_/),
      name: "zz_c",
      channel: "whatsapp",
      category: "utility",
      language: "de",
      inbox_id: expect.stringMatching(/^inb_/),
      status: "draft",
      is_sendable: false,
      quality_rating: null,
      rejection_reason: null,
      created_at,
      updated_at: created_at,
    },
  ]);
  for (const query of [{ status: "done" }, { sort: "best" }, { category: "news" }]) {
    expect(await expectFailure(list(query))).toMatchObject({ status: 400, code: "invalid_request" });
  }
});

test("the sample of a header may be an upload that the channel takes", async () => {
  const image = await uploads.upload({ name: "logo.png", bytes: png });
  const withSample = (type: "image" | "video", media_url: string) =>
    create({ template_data: { body, header: { type, media_url } } });
  const template = await withSample("image", image.storage_url);
  expect((await submit(template.id)).data.status).toBe("pending");
  expect(await expectFailure(withSample("video", image.storage_url))).toMatchObject({
    status: 422,
    code: "media_not_sendable",
    error: { param: "template_data.header.media_url" },
  });
  const unknown = image.storage_url.replace(/[\w-]{32}(?=\?|$)/, "x".repeat(32));
  expect(await expectFailure(withSample("image", unknown))).toMatchObject({
    status: 404,
    code: "upload_not_found",
    error: { param: "template_data.header.media_url" },
  });
});
