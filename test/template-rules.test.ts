/** The rules of the review authority: warnings of a draft, which its submission does not pass. */
import { expect, test } from "vitest";
import { templates } from "../tools/templates/index.ts";
import { useTestApp } from "./support/app.ts";
import { expectFailure } from "./support/expect-failure.ts";

const app = useTestApp();

type Data = Parameters<typeof create>[0];
let created = 0;

const create = (
  template_data: { body?: string; header?: object; footer?: string; buttons?: object[] },
  variables?: { name: string; component: "HEADER" | "BODY" | "BUTTONS"; example?: string }[],
) => {
  created += 1;
  return app.call(templates.create_template, {
    name: `rule_${created}`,
    category: "utility",
    // Invalid forms are part of the tests.
    template_data: { body: "Your order is on its way.", ...template_data } as never,
    ...(variables ? { variables } : {}),
  });
};

const url = (text: string, address: string) => ({ type: "url", text, url: address });
const reply = (text: string) => ({ type: "quick_reply", text });
const call = (text: string) => ({ type: "phone_number", text, phone_number: "+14155550123" });
const inBody = (name: string) => ({ name, component: "BODY" as const, example: "Ann Miller" });

const rules: readonly [code: string, data: Data, field: string, message: string][] = [
  [
    "variable_gap",
    { body: "Hello {{1}}, your order {{3}} is on its way to you." },
    "template_data.body",
    "Number the variables from {{1}} without a gap; it has {{1}}, {{3}}.",
  ],
  [
    "variable_gap",
    { header: { type: "text", text: "Order {{2}} shipped" } },
    "template_data.header.text",
    "Number the variables from {{1}} without a gap; it has {{2}}.",
  ],
  [
    "variable_malformed",
    { body: "Hello {{Name}}, your order is on its way." },
    "template_data.body",
    "Write a variable as {{1}} or {{first_name}}: a number, or a name of small letters, digits and _.",
  ],
  [
    "variable_malformed",
    { body: "Your order {{1} is on its way." },
    "template_data.body",
    "Write a variable as {{1}} or {{first_name}}: a number, or a name of small letters, digits and _.",
  ],
  [
    "variables_mixed",
    { body: "Hello {{first_name}}, your order {{1}} is on its way." },
    "template_data.body",
    "Write all variables of header and body as numbers, or all as names.",
  ],
  [
    "variable_at_edge",
    { body: "{{1}}, your order is on its way to you." },
    "template_data.body",
    "Put text before the first and after the last variable.",
  ],
  [
    "variable_at_edge",
    { body: "Your order is on its way to {{1}} " },
    "template_data.body",
    "Put text before the first and after the last variable.",
  ],
  [
    "variables_adjacent",
    { body: "Hello dear customer {{1}} {{2}}, your order is on its way." },
    "template_data.body",
    "Put text between two variables.",
  ],
  [
    "variable_not_allowed",
    { footer: "From {{1}}" },
    "template_data.footer",
    "A footer can't have variables.",
  ],
  [
    "variable_not_allowed",
    { buttons: [reply("Call {{1}}")] },
    "template_data.buttons[0].text",
    "A button's text can't have variables.",
  ],
  [
    "too_many_variables",
    { header: { type: "text", text: "Order {{1}} of {{2}} shipped" } },
    "template_data.header.text",
    "This text can have one variable; it has 2.",
  ],
  [
    "text_too_long",
    { header: { type: "text", text: "h".repeat(61) } },
    "template_data.header.text",
    "At most 60 characters; it has 61.",
  ],
  ["text_too_long", { footer: "f".repeat(61) }, "template_data.footer", "At most 60 characters; it has 61."],
  [
    "text_too_long",
    { buttons: [reply("b".repeat(26))] },
    "template_data.buttons[0].text",
    "At most 25 characters; it has 26.",
  ],
  [
    "header_formatted",
    { header: { type: "text", text: "Shipped 🚚" } },
    "template_data.header.text",
    "A header can't have line breaks, emoji or the characters * _ ~ `.",
  ],
  [
    "url_invalid",
    { buttons: [url("Track", "https://example.com/{{1}}/track")] },
    "template_data.buttons[0].url",
    "Send a complete address, for example https://example.com/orders/{{1}}; a variable may only be at its end.",
  ],
  [
    "url_invalid",
    { buttons: [url("Track", "example.com/orders")] },
    "template_data.buttons[0].url",
    "Send a complete address, for example https://example.com/orders/{{1}}; a variable may only be at its end.",
  ],
  [
    "url_invalid",
    { buttons: [url("Track", "https://example.com{{1}}")] },
    "template_data.buttons[0].url",
    "Send a complete address, for example https://example.com/orders/{{1}}; a variable may only be at its end.",
  ],
  ...[
    "http://example.com/orders",
    "https://user@example.com/orders",
    "https://example.com:secret@evil.example/orders",
    "https://@example.com/orders",
    "https://localhost/orders",
    "https://shop.localhost./orders",
    "https://127.0.0.1/orders",
    "https://0x7f.1/orders",
    "https://[::1]/orders",
    "https://intranet/orders",
    "https://example.com/orders\u0007",
    "https://example.com/\torders",
    "https://example.com/orders\u202e/{{1}}",
  ].map((address): [code: string, data: Data, field: string, message: string] => [
    "url_unsafe",
    { buttons: [url("Track", address)] },
    "template_data.buttons[0].url",
    "Send an https address with a public host name, no user, and no spaces or control characters.",
  ]),
  [
    "phone_number_invalid",
    { buttons: [{ ...call("Call us"), phone_number: "0415 555" }] },
    "template_data.buttons[0].phone_number",
    "Send a number with its country code, for example +14155550123.",
  ],
  [
    "too_many_buttons",
    { buttons: ["a", "b", "c"].map((name) => url(name, `https://example.com/${name}`)) },
    "template_data.buttons",
    "At most 2 buttons can be of type url.",
  ],
  [
    "too_many_buttons",
    { buttons: [call("Sales"), call("Support")] },
    "template_data.buttons",
    "At most 1 button can be of type phone_number.",
  ],
  [
    "buttons_mixed",
    { buttons: [reply("Yes"), call("Call us"), reply("No")] },
    "template_data.buttons",
    "Put the quick replies next to each other.",
  ],
  [
    "buttons_equal",
    { buttons: [reply("Yes"), reply("yes ")] },
    "template_data.buttons",
    "Give each button a text of its own.",
  ],
];

test.each(rules)("%s: %j is a warning, and not submitted", async (code, data, field, message) => {
  const { data: template } = await create(data);
  expect(template.status).toBe("draft");
  const isAdvice = ({ code: one }: { code: string }) => ["example_missing", "little_text"].includes(one);
  expect(template.warnings.filter((one) => !isAdvice(one))).toEqual([{ code, field, message }]);
  const failure = await expectFailure(app.call(templates.submit_template, { id: template.id }));
  expect(failure).toMatchObject({ status: 422, code: "template_not_submittable" });
  expect(failure.error).toMatchObject({ param: field, details: [{ field, code, message }] });
  const { data: after } = await app.call(templates.get_template, { id: template.id });
  expect(after).toEqual(template);
});

const advice: readonly [code: string, data: Data, field: string, message: string][] = [
  [
    "button_text_cut",
    { buttons: [reply("b".repeat(21))] },
    "template_data.buttons[0].text",
    "Some phones cut a button's text after 20 characters; it has 21.",
  ],
  [
    "little_text",
    { body: "Hello {{1}}, bye." },
    "template_data.body",
    "The authority rejects a body with many variables and little text; write at least 3 words for 1 of them.",
  ],
  [
    "example_missing",
    { body: "Hello {{1}}, your order is on its way." },
    "variables[0].example",
    "Send an example of 1, such as a real value: reviewers see its name otherwise.",
  ],
];

test.each(advice)("%s: %j is a warning, and submitted", async (code, data, field, message) => {
  const isExample = code === "example_missing";
  const { data: template } = await create(
    data,
    data.body !== undefined && !isExample ? [inBody("customer")] : undefined,
  );
  expect(template.warnings).toEqual([{ code, field, message }]);
  const { data: submitted } = await app.call(templates.submit_template, { id: template.id });
  expect(submitted).toMatchObject({ status: "pending", warnings: template.warnings });
});

test("a submission lists everything that is wrong", async () => {
  const { data } = await create({ body: "{{1}} {{3}} is on its way.", footer: "f".repeat(61) });
  const failure = await expectFailure(app.call(templates.submit_template, { id: data.id }));
  expect(failure.error?.details?.map(({ code }) => code)).toEqual([
    "variable_gap",
    "variable_at_edge",
    "variables_adjacent",
    "text_too_long",
  ]);
});

test("a template that breaks no rule has no warnings", async () => {
  const { data } = await create(
    {
      body: "Hello {{1}}, your order {{2}} is on its way to you and arrives today.",
      header: { type: "text", text: "Order {{1}}" },
      footer: "Reply STOP to get no more messages",
      buttons: [reply("Thanks"), url("Track", "https://example.com/orders/{{1}}"), call("Call us")],
    },
    [
      { name: "order", component: "HEADER", example: "A-17" },
      inBody("customer"),
      { name: "order", component: "BODY", example: "A-17" },
      { name: "order", component: "BUTTONS", example: "A-17" },
    ],
  );
  expect(data.warnings).toEqual([]);
  expect(data.variables).toEqual([
    { name: "order", component: "HEADER", example: "A-17" },
    { name: "customer", component: "BODY", example: "Ann Miller" },
    { name: "order", component: "BODY", example: "A-17" },
    { name: "order", component: "BUTTONS", button_index: 1, example: "A-17" },
  ]);
});

test("a language is one in which the channel reviews templates; the error names codes like it", async () => {
  const draft = { name: "greeting", category: "utility", template_data: { body: "Hello" } } as const;
  for (const [language, similar] of [
    ["pt", "pt_BR, pt_PT"],
    ["xx_XX", "en, en_US, pt_BR"],
  ] as const) {
    const failure = await expectFailure(app.call(templates.create_template, { ...draft, language }));
    expect(failure).toMatchObject({
      status: 400,
      code: "template_language_unknown",
      error: { param: "language", fix: `Send one of its language codes, such as ${similar}.` },
    });
    expect(failure.message).toContain(language);
  }
  const { data } = await app.call(templates.create_template, { ...draft, language: "pt_BR" });
  const change = app.call(templates.update_template, { id: data.id, language: "xx" });
  expect(await expectFailure(change)).toMatchObject({ code: "template_language_unknown" });
});
