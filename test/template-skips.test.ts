/** What a sync says about templates of Meta's that can't be sent here. */
import { expect, test } from "vitest";
import { templates } from "../tools/templates/index.ts";
import { createEmulatedTemplates } from "./support/emulated-templates.ts";
import { useEmulatedWhatsApp } from "./support/whatsapp-channel.ts";

const whatsApp = useEmulatedWhatsApp();
const { createAtMeta } = createEmulatedTemplates(whatsApp);

const body = { type: "BODY", text: "Our canoes are at the lake." };
const withButtons = (...buttons: object[]) => [body, { type: "BUTTONS", buttons }];

test.each([
  ["catalog", "MARKETING", withButtons({ type: "CATALOG", text: "View" })],
  ["unknown", "MARKETING", [body, { type: "CALL_PERMISSION_REQUEST" }]],
])("a template is named with the reason %s", async (reason, category, components) => {
  const { created, synced } = await createAtMeta({ name: `not_${reason}`, category, components });
  expect(created).toMatchObject({ status: "PENDING" });
  expect(synced.skipped).toContainEqual({ name: `not_${reason}`, language: "en", reason });
  const { data: added } = await whatsApp().app.call(templates.list_templates, { search: `not_${reason}` });
  expect(added).toEqual([]);
});

test("a template that was added is not named", async () => {
  const { synced } = await createAtMeta({ name: "plain", category: "UTILITY", components: [body] });
  expect(synced.skipped.map(({ name }) => name)).not.toContain("plain");
});
