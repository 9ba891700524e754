/** Templates whose variables have names, such as {{first_name}}: how they are reviewed, read and sent. */
import { describe, expect, test } from "vitest";
import { defaults } from "../emulator/index.ts";
import { messages } from "../tools/messages/index.ts";
import { templates } from "../tools/templates/index.ts";
import { expectFailure } from "./support/expect-failure.ts";
import { useEmulatedWhatsApp } from "./support/whatsapp-channel.ts";
import type { Json } from "./support/whatsapp-emulator.ts";

const whatsApp = useEmulatedWhatsApp();
const { waba_id, access_token } = defaults;

const data = {
  header: { type: "text" as const, text: "Order {{order}}" },
  body: "Hello {{first_name}}, your order {{order}} is ready, {{first_name}}.",
  buttons: [{ type: "url" as const, text: "Track", url: "https://example.com/orders/{{1}}" }],
};
const named = [
  { name: "order", component: "BODY" as const, example: "A-1" },
  { name: "first_name", component: "BODY" as const, example: "Ada" },
];

async function create(name: string, more: object = {}) {
  const { app, inbox } = whatsApp();
  const input = { name, language: "en", category: "utility" as const, inbox_id: inbox.id };
  return (
    await app.call(templates.create_template, { ...input, template_data: data, variables: named, ...more })
  ).data;
}

const graph = async (path: string, body?: object) => {
  const answer = await fetch(`${whatsApp().emulator.url}/v26.0/${path}`, {
    method: body === undefined ? "GET" : "POST",
    headers: { authorization: `Bearer ${access_token}`, "content-type": "application/json" },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return (await answer.json()) as Json;
};

/** What the emulator got for the latest message. */
async function send(name: string, content: object): Promise<Json> {
  const { app, inbox, emulator } = whatsApp();
  const template = { name, language: "en", ...content };
  const input = { to: "+14155550123", type: "template" as const, template, inbox_id: inbox.id };
  const { data: sent } = await app.call(messages.send_message, input);
  await app.runDueJobs();
  const answer = await fetch(`${emulator.url}/emulator/messages?limit=1`);
  const [{ body }] = ((await answer.json()) as Json).data;
  const read = await app.call(messages.get_message, {
    conversation_id: sent.conversation_id,
    message_id: sent.id,
  });
  return { components: body.template.components, shown: read.data.template };
}

const text = (value: string, parameter_name?: string) => ({
  type: "text",
  text: value,
  ...(parameter_name === undefined ? {} : { parameter_name }),
});
const sent = [
  { type: "header", parameters: [text("17", "order")] },
  { type: "body", parameters: [text("Ada", "first_name"), text("17", "order")] },
  { type: "button", sub_type: "url", index: "0", parameters: [text("a17")] },
];
const shown = { header: { type: "text", text: "Order 17" }, body: "Hello Ada, your order 17 is ready, Ada." };

test("a template is submitted with the names, and takes values by name, by number and as components", async () => {
  const { app, advance } = whatsApp();
  const { id, variables } = await create("order_ready");
  expect(variables).toEqual([
    { name: "order", component: "HEADER", example: "order" },
    { name: "first_name", component: "BODY", example: "Ada" },
    { name: "order", component: "BODY", example: "A-1" },
    { name: "button_0_1", component: "BUTTONS", button_index: 0, example: "button_0_1" },
  ]);
  await app.call(templates.submit_template, { id });
  const { data: listed } = await graph(
    `${waba_id}/message_templates?fields=parameter_format,components&name=order_ready`,
  );
  expect(listed[0]).toMatchObject({ parameter_format: "NAMED" });
  expect(listed[0].components).toMatchObject([
    { example: { header_text_named_params: [{ param_name: "order", example: "order" }] } },
    {
      text: data.body,
      example: {
        body_text_named_params: [
          { param_name: "first_name", example: "Ada" },
          { param_name: "order", example: "A-1" },
        ],
      },
    },
    {},
  ]);
  await advance(2_000);
  await app.call(templates.sync_templates, {});
  const byName = await send("order_ready", {
    variables: { first_name: "Ada", order: "17", button_0_1: "a17" },
  });
  expect(byName.components).toEqual(sent);
  expect(byName.shown).toMatchObject(shown);
  await advance(10_000);
  const components = [
    { type: "header", parameters: [text("17", "order")] },
    { type: "body", parameters: [text("17", "order"), text("Ada", "first_name")] },
    { type: "button", sub_type: "url", index: 0, parameters: [text("a17")] },
  ];
  expect((await send("order_ready", { components })).components).toEqual(sent);
});

test("a template that was created at Meta is added, and sent by its names", async () => {
  const { app, advance } = whatsApp();
  const created = await graph(`${waba_id}/message_templates`, {
    name: "from_meta",
    language: "en",
    category: "UTILITY",
    parameter_format: "NAMED",
    components: [
      {
        type: "BODY",
        text: "Hi {{first_name}}, welcome to the lake, where your canoe waits.",
        example: { body_text_named_params: [{ param_name: "first_name", example: "Ada" }] },
      },
    ],
  });
  expect(created).toMatchObject({ status: "PENDING" });
  await advance(2_000);
  await app.call(templates.sync_templates, {});
  const { data: found } = await app.call(templates.list_templates, { search: "from_meta" });
  const { data: template } = await app.call(templates.get_template, { id: found[0]?.id ?? "" });
  expect(template).toMatchObject({
    is_sendable: true,
    template_data: { body: "Hi {{first_name}}, welcome to the lake, where your canoe waits." },
    variables: [{ name: "first_name", component: "BODY", example: "Ada" }],
    warnings: [],
  });
  await advance(10_000);
  const { components } = await send("from_meta", { variables: { first_name: "Bo" } });
  expect(components).toEqual([{ type: "body", parameters: [text("Bo", "first_name")] }]);
});

test("a changed text keeps the examples of its names", async () => {
  const { app } = whatsApp();
  const { id } = await create("changed");
  const template_data = {
    body: "Your order {{order}} is ready, {{first_name}} and {{friend}}, at the desk.",
  };
  const { data: changed } = await app.call(templates.update_template, { id, template_data });
  expect(changed.variables).toEqual([
    { name: "order", component: "BODY", example: "A-1" },
    { name: "first_name", component: "BODY", example: "Ada" },
    { name: "friend", component: "BODY", example: "friend" },
  ]);
});

describe("what does not fit is named:", () => {
  test("a variable that is not in the text", async () => {
    const variables = [
      { name: "order", component: "BODY" as const },
      { name: "last_name", component: "BODY" as const },
    ];
    expect(await expectFailure(create("other_name", { variables }))).toMatchObject({
      status: 400,
      code: "template_variable_unknown",
      message: expect.stringContaining("last_name"),
    });
  });

  test.each([
    ["numbers and names", "Hello {{first_name}}, your order {{1}} is ready.", "variables_mixed"],
    ["capital letters", "Hello {{FirstName}}, your order is ready.", "variable_malformed"],
    ["a name at the end", "Your order is ready, {{first_name}}", "variable_at_edge"],
  ])("%s", async (_, body, code) => {
    const { warnings } = await create(`lint_${code}`, { template_data: { body }, variables: [] });
    expect(warnings.map((warning) => warning.code)).toContain(code);
  });

  test("a value for another name", async () => {
    const components = [{ type: "body", parameters: [text("Bo", "last_name")] }];
    const failure = await expectFailure(send("from_meta", { components }));
    expect(failure).toMatchObject({ code: "template_values_mismatch" });
    expect(failure.message).toContain("the body");
  });
});
