/** Templates with a place as header: how they are reviewed, read and sent. */
import { describe, expect, test } from "vitest";
import { templates } from "../tools/templates/index.ts";
import { createEmulatedTemplates, type TemplateInput } from "./support/emulated-templates.ts";
import { expectFailure } from "./support/expect-failure.ts";
import { useEmulatedWhatsApp } from "./support/whatsapp-channel.ts";

const whatsApp = useEmulatedWhatsApp();
const { create, approve, find, listed, send, createAtMeta } = createEmulatedTemplates(whatsApp);

const data: TemplateInput = {
  header: { type: "location" },
  body: "Hello {{1}}, your canoe waits for you at this place.",
};
const place = {
  header_latitude: "46.5",
  header_longitude: "-7.25",
  header_name: "Boat house",
  header_address: "Lake Road 1, Thun",
};
const location = { latitude: 46.5, longitude: -7.25, name: "Boat house", address: "Lake Road 1, Thun" };
const sent = [
  { type: "header", parameters: [{ type: "location", location }] },
  { type: "body", parameters: [{ type: "text", text: "Ann" }] },
];
const category = "utility" as const;

test("it is submitted, and sent with the four values by name and as components", async () => {
  const { id, variables, warnings } = await create("pick_up", data, { category });
  expect(variables.map(({ name, component }) => [component, name])).toEqual([
    ...Object.keys(place).map((name) => ["HEADER", name]),
    ["BODY", "1"],
  ]);
  expect(warnings.map(({ code, field }) => [code, field])).toEqual([
    ["example_missing", "variables[4].example"],
  ]);
  await approve(id);
  expect((await listed("pick_up")).components[0]).toEqual({ type: "HEADER", format: "LOCATION" });
  expect(await find("pick_up")).toMatchObject({ status: "approved", is_sendable: true });
  const { components, shown, status } = await send("pick_up", { variables: { ...place, 1: "Ann" } });
  expect(components).toEqual(sent);
  expect(shown.header).toEqual({ type: "location", location });
  expect(status).toBe("sent");
  expect((await send("pick_up", { components: sent })).components).toEqual(sent);
});

test("its values may have names of their own", async () => {
  const names = ["north", "east", "spot", "street"].map((name) => ({ name, component: "HEADER" as const }));
  const { id } = await create("own_names", data, { category, variables: names });
  await approve(id);
  const variables = {
    north: "46.5",
    east: "-7.25",
    spot: "Boat house",
    street: "Lake Road 1, Thun",
    1: "Ann",
  };
  expect((await send("own_names", { variables })).components).toEqual(sent);
});

test("a template that was created at Meta is added, and keeps its values when its body is changed", async () => {
  const components = [
    { type: "HEADER", format: "LOCATION" },
    { type: "BODY", text: data.body, example: { body_text: [["Ann"]] } },
  ];
  await createAtMeta({ name: "meta_place", category: "UTILITY", components });
  const added = await find("meta_place");
  expect(added).toMatchObject({ is_sendable: true, template_data: data });
  expect((await send("meta_place", { variables: { ...place, 1: "Ann" } })).components).toEqual(sent);
  const template_data = { ...data, body: "Hello {{1}}, your kayak waits for you at this place." };
  const { app } = whatsApp();
  const { data: changed } = await app.call(templates.update_template, { id: added.id, template_data });
  expect(changed.variables.map(({ name }) => name)).toEqual([...Object.keys(place), "1"]);
});

describe("what does not fit is named:", () => {
  test.each([
    ["text", { type: "location" as const, text: "Here" }],
    ["media_url", { type: "location" as const, media_url: "https://example.com/a.png" }],
  ])("a header with %s", async (field, header) => {
    const failure = await expectFailure(create("extra", { ...data, header }));
    expect(failure).toMatchObject({ status: 400, error: { param: `template_data.header.${field}` } });
  });

  test.each([
    ["a missing address", { header_address: undefined }, "the value of header_address is missing"],
    ["a latitude beyond the pole", { header_latitude: "90.1" }, "degrees from -90 to 90"],
    ["a longitude that is no number", { header_longitude: "east" }, "degrees from -180 to 180"],
    ["a blank name", { header_name: " " }, "the value of header_name is blank"],
  ])("%s", async (_, values, message) => {
    const variables = JSON.parse(JSON.stringify({ ...place, 1: "Ann", ...values }));
    const failure = await expectFailure(send("pick_up", { variables }));
    expect(failure).toMatchObject({ status: 422, code: "template_values_mismatch" });
    expect(failure.message).toContain(message);
  });

  test("components without an address", async () => {
    const { address: _, ...rest } = location;
    const components = [{ type: "header", parameters: [{ type: "location", location: rest }] }];
    const failure = await expectFailure(send("pick_up", { components }));
    expect(failure).toMatchObject({
      status: 400,
      error: { param: "template.components[0].parameters[0].location.address" },
    });
  });
});
