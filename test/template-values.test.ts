/** The values of a template's variables: how they are given, what they give, and which are rejected. */
import { beforeAll, describe, expect, test } from "vitest";
import { contacts } from "../tools/contacts.ts";
import { conversations } from "../tools/conversations.ts";
import { messages } from "../tools/messages/index.ts";
import { useTestApp } from "./support/app.ts";
import { expectFailure } from "./support/expect-failure.ts";
import { openPhone } from "./support/simulator.ts";
import { createTemplateHelpers, type TemplateContent } from "./support/templates.ts";

const app = useTestApp();
const { approve, send, sendAndRead } = createTemplateHelpers(app);

const shipped = {
  name: "shipped",
  template_data: {
    header: { type: "text" as const, text: "Order {{1}}" },
    body: "Hello {{1}}, your order {{2}} is on its way; {{2}} arrives today.",
    footer: "Reply STOP to get no more messages",
    buttons: [
      { type: "quick_reply" as const, text: "Thanks" },
      { type: "url" as const, text: "Track", url: "https://example.com/orders/{{1}}" },
    ],
  },
  variables: [
    { name: "number", component: "HEADER" as const, example: "A-1" },
    { name: "customer", component: "BODY" as const, example: "Ann" },
    { name: "order", component: "BODY" as const, example: "A-1" },
    { name: "path", component: "BUTTONS" as const, example: "A-1" },
  ],
};

const values = { number: "17", customer: "Ann", order: "A-17", path: "a17" };
const rendered = {
  name: "shipped",
  language: "en",
  category: "utility",
  header: { type: "text", text: "Order 17" },
  body: "Hello Ann, your order A-17 is on its way; A-17 arrives today.",
  footer: "Reply STOP to get no more messages",
  buttons: [
    { type: "quick_reply", text: "Thanks" },
    { type: "url", text: "Track", url: "https://example.com/orders/a17" },
  ],
};

beforeAll(async () => {
  await approve(shipped);
});

describe("values", () => {
  const components = [
    { type: "header", parameters: [{ type: "text", text: "17" }] },
    {
      type: "body",
      parameters: [
        { type: "text", text: "Ann" },
        { type: "text", text: "A-17" },
      ],
    },
    { type: "button", sub_type: "url", index: "1", parameters: [{ type: "text", text: "a17" }] },
  ];

  test.each<[string, Omit<TemplateContent, "name" | "language">]>([
    ["by name", { variables: values }],
    ["by number in the body", { variables: { number: "17", "1": "Ann", "2": "A-17", path: "a17" } }],
    ["as components", { components }],
  ])("%s give the same message", async (_, content) => {
    const message = await sendAndRead("+14155550110", { name: "SHIPPED", ...content });
    expect(message).toMatchObject({ type: "template", status: "queued", text: null, template: rendered });
  });

  test("are shown in lists, previews and on the phone, and a reply can be tapped", async () => {
    const to = "+14155550111";
    const message = await sendAndRead(to, { name: "shipped", variables: values });
    const { conversation_id } = message;
    const list = await app.call(messages.list_messages, { conversation_id });
    expect(list.data[0]?.template).toEqual(rendered);
    const { data } = await app.call(conversations.list_conversations, {});
    const preview = data.find(({ id }) => id === conversation_id)?.last_message;
    const sent_by = expect.objectContaining({ type: "api_key" });
    const shown = { direction: "outbound", type: "template", status: "queued", text: rendered.body };
    expect(preview).toEqual({ ...shown, sent_by });
    await app.runDueJobs();
    const phone = openPhone(app, to);
    const { category: _, ...onPhone } = rendered;
    expect((await phone.listMessages())[0]).toMatchObject({
      type: "template",
      template: {
        ...onPhone,
        values: { header: ["17"], body: ["Ann", "A-17"], buttons: [{ index: 1, value: "a17" }] },
      },
    });
    await app.fetch("/simulator/inbound", { method: "POST", json: { from: to, button: "Thanks" } });
    const { data: after } = await app.call(messages.list_messages, { conversation_id });
    expect(after[0]?.reply).toEqual({ id: "Thanks", title: "Thanks" });
  });

  test("of a quick reply are returned when it is tapped", async () => {
    const to = "+14155550112";
    const reply = {
      type: "button",
      sub_type: "quick_reply",
      index: 0,
      parameters: [{ type: "payload", payload: "ok" }],
    };
    const message = await sendAndRead(to, { name: "shipped", components: [...components, reply] });
    expect(message.template?.buttons[0]).toEqual({ type: "quick_reply", text: "Thanks", payload: "ok" });
    await app.runDueJobs();
    await app.fetch("/simulator/inbound", { method: "POST", json: { from: to, button: "Thanks" } });
    const { data } = await app.call(messages.list_messages, { conversation_id: message.conversation_id });
    expect(data[0]?.reply).toEqual({ id: "ok", title: "Thanks" });
  });

  const mismatches: readonly [
    what: string,
    content: Omit<TemplateContent, "name" | "language">,
    reason: string,
  ][] = [
    [
      "a missing variable",
      { variables: { ...values, order: undefined as never } },
      "the value of order is missing.",
    ],
    ["no values", {}, "the value of number is missing."],
    ["a surplus variable", { variables: { ...values, total: "9" } }, "it has no variable total."],
    ["a number that the body lacks", { variables: { ...values, "3": "9" } }, "it has no variable 3."],
    ["a blank value", { variables: { ...values, order: " " } }, "the value of order is blank."],
    ["an invisible value", { variables: { ...values, order: "\u200b" } }, "the value of order is blank."],
    [
      "a value that can't be part of an address",
      { variables: { ...values, path: "a 17" } },
      "the value of path is part of an address: send it without spaces, or encoded.",
    ],
    [
      "a value with a line break",
      { variables: { ...values, order: "a\nb" } },
      "the value of order can't have line breaks, tabs or more than four spaces in a row.",
    ],
    [
      "a value by name and another by number",
      { variables: { ...values, "2": "B-2" } },
      "the value of order is given by its name and by its number.",
    ],
    [
      "values that make the body too long",
      { variables: { ...values, order: "x".repeat(600) } },
      "with its values the body has more than 1024 characters.",
    ],
    [
      "values that make the header too long",
      { variables: { ...values, number: "x".repeat(60) } },
      "with its values the header has more than 60 characters.",
    ],
    [
      "a file for a text header",
      { variables: values, header_media_url: "https://example.com/a.png" },
      "it has no image, video or document header.",
    ],
    [
      "too few components",
      { components: components.slice(1) },
      "the header has 1 variables, and components gives 0 values for it.",
    ],
    [
      "a component with too many values",
      {
        components: [
          components[0] ?? {},
          { type: "body", parameters: Array(3).fill({ type: "text", text: "a" }) },
          components[2] ?? {},
        ],
      },
      "the body has 2 variables, and components gives 3 values for it.",
    ],
    [
      "a picture for a text header",
      {
        components: [
          { type: "header", parameters: [{ type: "image", image: { link: "https://example.com/a.png" } }] },
          ...components.slice(1),
        ],
      },
      "the header takes values of type text.",
    ],
    [
      "a value for a button that does not exist",
      {
        components: [...components, { type: "button", index: 2, parameters: [{ type: "text", text: "a" }] }],
      },
      "button 2 takes no values.",
    ],
    [
      "a value for a button that has none",
      {
        components: [
          ...components,
          { type: "button", sub_type: "url", index: 0, parameters: [{ type: "text", text: "a" }] },
        ],
      },
      "button 0 takes values of type payload.",
    ],
    [
      "a payload for a button that is no quick reply",
      {
        components: [
          ...components,
          { type: "button", index: 1, parameters: [{ type: "payload", payload: "ok" }] },
        ],
      },
      "button 1 takes values of type text.",
    ],
    [
      "a payload in the body",
      {
        components: [...components, { type: "body", parameters: [{ type: "payload", payload: "ok" }] }],
      },
      "the body takes values of type text.",
    ],
    [
      "a file in the body",
      {
        components: [
          ...components,
          { type: "body", parameters: [{ type: "image", image: { link: "https://example.com/a.png" } }] },
        ],
      },
      "the body takes values of type text.",
    ],
  ];

  test.each(mismatches)("with %s are rejected, and nothing is stored", async (_, content, reason) => {
    const variables =
      content.variables &&
      Object.fromEntries(Object.entries(content.variables).filter(([, value]) => value !== undefined));
    const to = "+14155550113";
    const failure = await expectFailure(
      send(to, { name: "shipped", ...content, ...(variables ? { variables } : {}) }),
    );
    expect(failure).toMatchObject({
      status: 422,
      code: "template_values_mismatch",
      message: `The values do not fit the template shipped: ${reason}`,
      error: { expected: "number, customer, order, path", param: "template.variables" },
    });
    const { data } = await app.call(contacts.list_contacts, { search: to });
    expect(data).toEqual([]);
  });

  test("of an unknown form are rejected with their place", async () => {
    const failure = await expectFailure(
      send("+14155550113", {
        name: "shipped",
        components: [{ type: "body", parameters: [{ type: "smell" }] }],
      }),
    );
    expect(failure).toMatchObject({ status: 400, code: "invalid_request" });
    expect(failure.error?.param).toBe("template.components[0].parameters[0].type");
    const named = { type: "text", parameter_name: "order", text: "A-17" };
    const byName = await expectFailure(
      send("+14155550113", { name: "shipped", components: [{ type: "body", parameters: [named] }] }),
    );
    expect(byName).toMatchObject({ status: 422, code: "template_values_mismatch" });
    expect(byName.error?.details?.map(({ message }) => message)).toContain("the body has no variable order.");
    const noIndex = await expectFailure(
      send("+14155550113", { name: "shipped", components: [{ type: "button", index: null }] }),
    );
    expect(noIndex).toMatchObject({ status: 400, error: { param: "template.components[0].index" } });
    const both = await expectFailure(
      send("+14155550113", { name: "shipped", components, variables: values }),
    );
    expect(both).toMatchObject({ status: 400, error: { param: "template.components" } });
  });
});
