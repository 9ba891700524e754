/** Templates with a button that copies a code: how they are reviewed, read and sent. */
import { describe, expect, test } from "vitest";
import { fromComponents, toComponents } from "../src/adapters/channel/whatsapp/templates/components.ts";
import { templates } from "../tools/templates/index.ts";
import { createEmulatedTemplates, type TemplateInput } from "./support/emulated-templates.ts";
import { expectFailure } from "./support/expect-failure.ts";
import { useEmulatedWhatsApp } from "./support/whatsapp-channel.ts";

const whatsApp = useEmulatedWhatsApp();
const { create, approve, find, listed, send, createAtMeta } = createEmulatedTemplates(whatsApp);

const body = "Our canoes are cheaper until Friday, with this code.";
const data: TemplateInput = {
  body,
  buttons: [
    { type: "url", text: "Visit", url: "https://example.com/{{1}}" },
    { type: "copy_code", text: "Copy offer code" },
  ],
};
const example = { name: "coupon", component: "BUTTONS" as const, button_index: 1, example: "LAKE25" };
const sentCode = {
  type: "button",
  sub_type: "copy_code",
  index: "1",
  parameters: [{ type: "coupon_code", coupon_code: "CANOE10" }],
};

test("it is submitted with the example, and sent with a code by name and as components", async () => {
  const { id, variables, warnings } = await create("offer", data, { variables: [example] });
  expect(variables).toEqual([
    { name: "button_0_1", component: "BUTTONS", button_index: 0, example: "button_0_1" },
    example,
  ]);
  expect(warnings.map(({ code }) => code)).toEqual(["example_missing"]);
  await approve(id);
  expect((await listed("offer")).components[1].buttons[1]).toEqual({ type: "COPY_CODE", example: "LAKE25" });
  expect(await find("offer")).toMatchObject({
    status: "approved",
    is_sendable: true,
    variables: [{}, example],
  });
  const { components, shown, status } = await send("offer", {
    variables: { button_0_1: "x", coupon: "CANOE10" },
  });
  expect(components[1]).toEqual(sentCode);
  expect(shown.buttons[1]).toEqual({ type: "copy_code", text: "Copy offer code", code: "CANOE10" });
  expect(status).toBe("sent");
  const asComponents = [
    { type: "button", sub_type: "url", index: 0, parameters: [{ type: "text", text: "x" }] },
    sentCode,
  ];
  expect((await send("offer", { components: asComponents })).components[1]).toEqual(sentCode);
});

test("an edit is submitted, and a template that was created at Meta is added", async () => {
  const buttons = [
    { type: "QUICK_REPLY", text: "Thanks" },
    { type: "COPY_CODE", example: "LAKE30" },
  ];
  const components = [
    { type: "BODY", text: body },
    { type: "BUTTONS", buttons },
  ];
  await createAtMeta({ name: "meta_offer", category: "MARKETING", components });
  const added = await find("meta_offer");
  expect(added).toMatchObject({
    is_sendable: true,
    template_data: { buttons: [{}, { type: "copy_code", text: "Copy offer code" }] },
    variables: [{ name: "button_1_code", component: "BUTTONS", button_index: 1, example: "LAKE30" }],
  });
  const { app } = whatsApp();
  const template_data: TemplateInput = {
    body: "Our canoes are cheaper until Sunday.",
    buttons: [
      { type: "quick_reply", text: "Thanks" },
      { type: "copy_code", text: "Copy offer code" },
    ],
  };
  const { data: changed } = await app.call(templates.update_template, { id: added.id, template_data });
  expect(changed.variables).toEqual(added.variables);
  await approve(added.id);
  const [changedBody, changedButtons] = (await listed("meta_offer")).components;
  expect(changedBody.text).toBe("Our canoes are cheaper until Sunday.");
  expect(changedButtons.buttons[1]).toEqual({ type: "COPY_CODE", example: "LAKE30" });
  expect((await send("meta_offer", { variables: { button_1_code: "CANOE10" } })).components).toEqual([
    sentCode,
  ]);
});

test("the text that WhatsApp writes on the button is no change", async () => {
  const { id } = await create("other_text", { body, buttons: [{ type: "copy_code", text: "Get it" }] });
  await approve(id);
  expect(await find("other_text")).toMatchObject({
    status: "approved",
    template_data: { buttons: [{ type: "copy_code", text: "Get it" }] },
  });
  const read = fromComponents(
    [
      { type: "BODY", text: body },
      { type: "BUTTONS", buttons: [{ type: "COPY_CODE", text: "Code kopieren", example: ["LAKE25"] }] },
    ],
    "POSITIONAL",
  );
  expect(read).toMatchObject({
    template_data: { buttons: [{ type: "copy_code", text: "Code kopieren" }] },
    variables: [{ name: "button_0_code", example: "LAKE25" }],
  });
  expect(read && toComponents(read, undefined)[1]?.buttons).toEqual([
    { type: "COPY_CODE", example: "LAKE25" },
  ]);
});

describe("what does not fit is named:", () => {
  test("two of them, and an example that is too long", async () => {
    const button = (text: string) => ({ type: "copy_code" as const, text });
    const { warnings } = await create(
      "two_codes",
      { body, buttons: [button("A"), button("B")] },
      { variables: [{ ...example, button_index: 0, example: "A".repeat(21) }] },
    );
    expect(warnings.map(({ code, field }) => [code, field])).toEqual([
      ["too_many_buttons", "template_data.buttons"],
      ["code_too_long", "variables[0].example"],
      ["example_missing", "variables[1].example"],
    ]);
  });

  test.each([
    ["no code", {}, "the value of coupon is missing"],
    ["a code that is too long", { variables: { button_0_1: "x", coupon: "A".repeat(21) } }, "at most 20"],
    ["a blank code", { variables: { button_0_1: "x", coupon: " " } }, "the value of coupon is blank"],
    [
      "a value of another type",
      { components: [{ ...sentCode, parameters: [{ type: "text", text: "x" }] }] },
      "button 1 takes values of type coupon_code",
    ],
    [
      "a code for another button",
      { components: [{ ...sentCode, index: 0 }] },
      "button 0 takes values of type text",
    ],
  ])("%s", async (_, content, message) => {
    const failure = await expectFailure(send("offer", content));
    expect(failure).toMatchObject({ status: 422, code: "template_values_mismatch" });
    expect(failure.error?.details?.map((detail) => detail.message).join(" ")).toContain(message);
  });
});
