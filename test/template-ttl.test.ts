/** How long WhatsApp tries to deliver a message of a template. */
import { expect, test } from "vitest";
import { templates } from "../tools/templates/index.ts";
import { createEmulatedTemplates } from "./support/emulated-templates.ts";
import { expectFailure } from "./support/expect-failure.ts";
import { useEmulatedWhatsApp } from "./support/whatsapp-channel.ts";

const whatsApp = useEmulatedWhatsApp();
const { create, approve, find, listed, createAtMeta } = createEmulatedTemplates(whatsApp);

const body = "Your canoe is ready at the lake.";
const category = "utility" as const;

test("it is submitted with a new template and with an edit", async () => {
  const { id } = await create("with_ttl", { body, message_send_ttl_seconds: 600 }, { category });
  await approve(id);
  expect(await listed("with_ttl")).toMatchObject({ message_send_ttl_seconds: 600 });
  expect(await find("with_ttl")).toMatchObject({
    status: "approved",
    template_data: { message_send_ttl_seconds: 600 },
  });
  const template_data = { body, message_send_ttl_seconds: 900 };
  const { data: changed } = await whatsApp().app.call(templates.update_template, { id, template_data });
  expect(changed.status).toBe("draft");
  await approve(id);
  expect(await listed("with_ttl")).toMatchObject({ message_send_ttl_seconds: 900 });
  expect(await find("with_ttl")).toMatchObject({ status: "approved", template_data });
});

test("a sync reads it, and a template without it has none", async () => {
  const components = [{ type: "BODY", text: body }];
  await createAtMeta({ name: "meta_ttl", category: "UTILITY", components, message_send_ttl_seconds: 120 });
  await createAtMeta({ name: "meta_default", category: "UTILITY", components });
  expect((await find("meta_ttl")).template_data).toEqual({ body, message_send_ttl_seconds: 120 });
  expect((await find("meta_default")).template_data).toEqual({ body });
});

test.each([
  ["utility", 43_201, "from 30 to 43200 seconds"],
  ["marketing", 43_199, "from 43200 to 2592000 seconds"],
  ["authentication", 901, "from 30 to 900 seconds"],
] as const)("a template of the category %s with %i seconds is not submitted", async (group, ttl, range) => {
  const data = { body, message_send_ttl_seconds: ttl };
  const { id, warnings } = await create(`ttl_${group}`, data, { category: group });
  expect(warnings).toMatchObject([
    { code: "ttl_out_of_range", field: "template_data.message_send_ttl_seconds" },
  ]);
  expect(warnings[0]?.message).toContain(range);
  const failure = await expectFailure(whatsApp().app.call(templates.submit_template, { id }));
  expect(failure).toMatchObject({ status: 422, code: "template_not_submittable" });
});

test("a fraction and a number beyond all limits are rejected at once", async () => {
  for (const message_send_ttl_seconds of [29, 30.5, 2_592_001, -1]) {
    const failure = await expectFailure(create("wrong_ttl", { body, message_send_ttl_seconds }));
    expect(failure).toMatchObject({
      status: 400,
      error: { param: "template_data.message_send_ttl_seconds" },
    });
  }
});
