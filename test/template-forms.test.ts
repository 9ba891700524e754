/** Templates with a button that opens a form: added by a sync, read-only, and sent with values. */
import { expect, test } from "vitest";
import { broadcasts } from "../tools/broadcasts/index.ts";
import { templates } from "../tools/templates/index.ts";
import examples from "./fixtures/whatsapp/meta-openapi-examples.json" with { type: "json" };
import { createBroadcastHelpers } from "./support/broadcasts.ts";
import { createEmulatedTemplates } from "./support/emulated-templates.ts";
import { expectFailure } from "./support/expect-failure.ts";
import { useEmulatedWhatsApp } from "./support/whatsapp-channel.ts";
import type { Json } from "./support/whatsapp-emulator.ts";

const whatsApp = useEmulatedWhatsApp();
const { createAtMeta, find, listed, send } = createEmulatedTemplates(whatsApp);

const created = examples.operations["post /{Version}/{WABA-ID}/message_templates"];
const sent = examples.operations["post /{Version}/{Phone-Number-ID}/messages"];
const exampleOf = (requests: typeof sent | typeof created, wanted: string): Json =>
  requests.find(({ name }) => name === wanted)?.value;

const formButton = (parameters: object[]) => ({ type: "button", sub_type: "flow", index: "1", parameters });
const action = (flow_token: string, more: object = {}) =>
  formButton([{ type: "action", action: { flow_token, ...more } }]);

async function createSurvey() {
  const buttons = [
    { type: "QUICK_REPLY", text: "Not now" },
    { type: "FLOW", text: "Answer", flow_id: "700100", flow_action: "navigate", navigate_screen: "FIRST" },
  ];
  const components = [
    { type: "BODY", text: "How was your trip, {{1}}?", example: { body_text: [["Ada"]] } },
    { type: "BUTTONS", buttons },
  ];
  return createAtMeta({ name: "survey", category: "UTILITY", components });
}

test("it is added by a sync, with the values of its form, and can't be changed here", async () => {
  const { synced } = await createSurvey();
  expect(synced.skipped).toEqual([]);
  const added = await find("survey");
  expect(added).toMatchObject({
    status: "approved",
    is_sendable: true,
    is_read_only: true,
    template_data: { buttons: [{}, { type: "form", text: "Answer", flow_id: "700100" }] },
    variables: [
      { name: "1", component: "BODY" },
      { name: "button_1_token", component: "BUTTONS", button_index: 1 },
      { name: "button_1_data", component: "BUTTONS", button_index: 1 },
    ],
  });
  const { app } = whatsApp();
  const change = { id: added.id, template_data: { body: "How was it?" } };
  expect(await expectFailure(app.call(templates.update_template, change))).toMatchObject({
    status: 422,
    code: "template_read_only",
    error: { message: "The template has a button for a form, which can't be changed here." },
  });
});

test("it is sent with a token and data by name, without them, and as components", async () => {
  await createSurvey();
  const body = { type: "body", parameters: [{ type: "text", text: "Ada" }] };
  const trip = { trip: "Loch Ness", days: [1, 2] };
  const named = { "1": "Ada", button_1_token: "trip-12", button_1_data: JSON.stringify(trip) };
  const full = await send("survey", { variables: named });
  expect(full.components).toEqual([body, action("trip-12", { flow_action_data: trip })]);
  expect(full.status).toBe("sent");
  expect(full.shown.buttons).toEqual([
    { type: "quick_reply", text: "Not now" },
    { type: "form", text: "Answer" },
  ]);
  const bare = await send("survey", { variables: { "1": "Ada" } });
  expect(bare.components).toEqual([body, action("unused")]);
  const components = [body, action("trip-13", { flow_action_data: trip })];
  expect((await send("survey", { components })).components).toEqual(components);
  expect((await send("survey", { components: [body] })).components).toEqual([body, action("unused")]);
});

test("a broadcast sends it with what is mapped, and with the token and the data that every form has", async () => {
  await createSurvey();
  const { app, inbox, advance, emulator } = whatsApp();
  const { cohort } = await createBroadcastHelpers(app).createCohort(["+14155550188"]);
  const { id: template_id } = await find("survey");
  const variable_mapping = { "1": { attribute: "name", default: "Ada" } };
  const { data } = await app.call(broadcasts.create_broadcast, {
    name: "Survey",
    cohort_id: cohort.id,
    inbox_id: inbox.id,
    template_id,
    variable_mapping,
  });
  await app.call(broadcasts.execute_broadcast, { id: data.id });
  await advance(60_000);
  const answer = await fetch(`${emulator.url}/emulator/messages?limit=1`);
  const [{ body }] = ((await answer.json()) as Json).data;
  expect(body.template.components).toEqual([
    { type: "body", parameters: [{ type: "text", text: "Ada" }] },
    action("unused"),
  ]);
});

test.each([
  ["data that is no JSON object", { variables: { "1": "Ada", button_1_data: "[1]" } }, "a JSON object"],
  ["a blank token", { variables: { "1": "Ada", button_1_token: " " } }, "button_1_token is blank"],
  ["a text for its button", { components: [formButton([{ type: "text", text: "x" }])] }, "type action"],
])("%s is refused", async (_, content, message) => {
  await createSurvey();
  const failure = await expectFailure(send("survey", content));
  expect(failure).toMatchObject({ status: 422, code: "template_values_mismatch" });
  expect(failure.error?.details?.map((detail) => detail.message).join(" ")).toContain(message);
});

test.each([
  "Create Flow Template Message by ID",
  "Create Flow Template Message by Name",
  "Create Flow Template Message by Flow JSON",
])("Meta's example is added and sent as in Meta's example: %s", async (name) => {
  const example = exampleOf(created, name);
  const own = { name: name.toLowerCase().replaceAll(" ", "_"), language: "en" };
  const { synced } = await createAtMeta({ ...example, ...own });
  expect(synced.skipped).toEqual([]);
  expect((await listed(own.name)).components[1].buttons).toMatchObject([{ type: "FLOW" }]);
  const { template } = exampleOf(sent, "Send Flow Template Message");
  const [button] = template.components;
  const variables = {
    button_0_token: button.parameters[0].action.flow_token,
    button_0_data: JSON.stringify(button.parameters[0].action.flow_action_data),
  };
  expect((await send(own.name, { variables })).components).toEqual(template.components);
  expect((await send(own.name, { components: template.components })).components).toEqual(template.components);
});
