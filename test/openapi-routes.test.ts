/** The routes that are not operations: what they answer is what the OpenAPI document says. */
import { Ajv2020 } from "ajv/dist/2020.js";
import { expect, test } from "vitest";
import { useTestApp } from "./support/app.ts";
import type { ApiDocument } from "./support/openapi.ts";
import { createShop } from "./support/payments.ts";
import { createTemplateHelpers } from "./support/templates.ts";

const app = useTestApp();

async function readDocument(): Promise<ApiDocument> {
  return (await (await app.fetch("/v1/openapi.json")).json()) as ApiDocument; // by OpenAPI
}

/** Sends a request, and validates the answer with the schema of its route. */
async function send(method: "GET" | "POST" | "PUT", path: string, route: string, more: object = {}) {
  const document = await readDocument();
  const answer = await app.fetch(path, { method, ...more });
  const body = await answer.json();
  const response = document.paths[route]?.[method.toLowerCase()]?.responses[answer.status];
  const { schema } = response?.content?.["application/json"] ?? {};
  expect(schema).toBeDefined();
  const ajv = new Ajv2020({ strict: false, validateFormats: false });
  ajv.addSchema({ ...document, $id: "document" });
  const validate = ajv.compile({ $ref: `document${schema?.$ref}` });
  expect([validate(body), validate.errors]).toEqual([true, null]);
}

test("the controls of the simulated channel", async () => {
  const json = { from: "+14155550123", name: "Ada", text: "Hello!" };
  await send("POST", "/simulator/inbound", "/simulator/inbound", { json });
  const phone = "/simulator/phones/%2B14155550123";
  await send("GET", `${phone}/messages`, "/simulator/phones/{number}/messages");
  await send("POST", `${phone}/read`, "/simulator/phones/{number}/read");
  const faults = { failures: [{ code: 131026, to: "14155550124" }] };
  await send("PUT", "/simulator/faults", "/simulator/faults", { json: faults });
  await send("GET", "/simulator/faults", "/simulator/faults");
});

test("the controls of the simulated review of templates", async () => {
  const route = "/simulator/templates";
  await createTemplateHelpers(app).approve({ name: "order_update" });
  await send("GET", route, route);
  await send("PUT", route, route, { json: { outcome: "hold" } });
  await send("PUT", route, route, { json: { name: "order_update", outcome: "pause" } });
});

test("the controls of the simulated payment processor", async () => {
  const shop = await createShop(app);
  const { order_id } = await shop.order();
  const route = "/simulator/payments/{order_id}";
  const path = `/simulator/payments/${order_id}`;
  await send("POST", `${path}/pay`, `${route}/pay`, { key: shop.key, json: {} });
  await send("POST", `${path}/refund`, `${route}/refund`, { key: shop.key, json: {} });
});

test("the media types of files and of the recipients of a broadcast", async () => {
  const { paths } = await readDocument();
  const typesOf = (path: string) => Object.keys(paths[path]?.get?.responses[200]?.content ?? {});
  expect(typesOf("/files/{organization}/{name}")).toEqual(["application/octet-stream"]);
  expect(typesOf("/v1/broadcasts/{id}/recipients.csv")).toEqual(["text/csv"]);
});
