/** The simulator's routes: controlling a phone over HTTP, and the faults of the channel. */
import { expect, test } from "vitest";
import type { CredentialRequest } from "../src/ports/transport/http-route.ts";
import { callerOf } from "./support/caller.ts";
import { createMemorySimulator } from "./support/simulator-memory.ts";

const phone = "+14155550123";
const inboundLine = "POST /simulator/inbound";
const messagesLine = "GET /simulator/phones/{number}/messages";

test.each(["+14155550123", "14155550123", "%2B14155550123", " 14155550123"])(
  "the phone number %s is accepted",
  async (number) => {
    const app = createMemorySimulator();
    await app.send();
    const listed = await call(app, messagesLine, { params: { number }, query: { limit: "500" } });
    const message = { token: "msg_1", type: "text", text: { body: "Hello" }, status: "accepted" };
    const body = { data: [message], meta: { limit: 200, total: 1 } };
    expect(listed).toMatchObject({ status: 200, body });
  },
);

test.each(["", "0415555", "4155", "+1 415 555 0123", "alice"])(
  "the phone number %j is rejected with its field",
  async (number) => {
    const read = call(createMemorySimulator(), "POST /simulator/phones/{number}/read", {
      params: { number },
    });
    expect(await read).toMatchObject({ invalid: { field: "number" } });
  },
);

test.each(["Yes", "y"])("a phone can tap the button %s that it was sent", async (button) => {
  const app = createMemorySimulator();
  const buttons = [
    { id: "y", title: "Yes" },
    { id: "n", title: "No" },
  ];
  await app.send({ content: { type: "interactive", interactive: { body: "Sure?", buttons } } });
  const tapped = await call(app, inboundLine, { body: { from: "14155550123", button } });
  expect(tapped).toMatchObject({ status: 201, body: { data: { conversation_id: "conv_1" } } });
  expect(app.inbound[0]?.content).toEqual({ type: "interactive", reply: { id: "y", title: "Yes" } });
});

test("a phone can choose a row of a list; a choice that it was not sent is rejected", async () => {
  const app = createMemorySimulator();
  const nothing = call(app, inboundLine, { body: { from: phone, button: "Red" } });
  expect(await nothing).toEqual({
    invalid: { field: "button", message: expect.stringContaining("No message") },
  });
  const list = { button: "Colours", sections: [{ rows: [{ id: "r", title: "Red", description: "Warm" }] }] };
  await app.send({ content: { type: "interactive", interactive: { body: "Which?", list } } });
  await call(app, inboundLine, { body: { from: phone, button: "Red" } });
  expect(app.inbound[0]?.content).toEqual({ type: "interactive", reply: { id: "r", title: "Red" } });
  const unknown = call(app, inboundLine, { body: { from: phone, button: "Blue" } });
  expect(await unknown).toEqual({
    invalid: { field: "button", message: expect.stringContaining("Red (r)") },
  });
});

const longestTitle = "Yes, ship it to my house!";
const template = {
  name: "order_update",
  language: "en",
  header: { type: "image", media: { url: "https://example.com/box.png", file_name: null } },
  body: "Ana, your order 42 is ready.",
  footer: "The shop",
  buttons: [
    { type: "quick_reply", text: longestTitle, payload: "ship" },
    { type: "quick_reply", text: "Stop" },
    { type: "url", text: "Open", url: "https://example.com/42" },
  ],
  values: { header: [], body: ["Ana", "42"], buttons: [{ index: 2, value: "42" }] },
} as const;

test("a template message is on the phone with all its parts", async () => {
  const app = createMemorySimulator();
  await app.send({ content: { type: "template", template } });
  const listed = await call(app, messagesLine, { params: { number: phone } });
  expect(listed).toMatchObject({ body: { data: [{ type: "template", template }] } });
});

test.each([
  ["its payload", "ship", { id: "ship", title: longestTitle }],
  ["its text", longestTitle, { id: "ship", title: longestTitle }],
  ["its text, without a payload", "Stop", { id: "Stop", title: "Stop" }],
])("a phone can tap a quick reply of a template by %s", async (_, button, reply) => {
  const app = createMemorySimulator();
  await app.send({ content: { type: "template", template } });
  await call(app, inboundLine, { body: { from: phone, button } });
  await call(app, inboundLine, { body: { from: phone, reply } });
  const content = { type: "interactive", reply };
  expect(app.inbound).toMatchObject([{ content }, { content }]);
});

test("a link of a template is no choice: a tap on it sends nothing", async () => {
  const app = createMemorySimulator();
  await app.send({ content: { type: "template", template } });
  expect(await call(app, inboundLine, { body: { from: phone, button: "Open" } })).toEqual({
    invalid: {
      field: "button",
      message: `No choice Open was sent to this phone. Choose one of: ${longestTitle} (ship), Stop (Stop).`,
    },
  });
});

test.each([
  [{ text: "Hi" }, { type: "text", text: { body: "Hi" } }],
  [{ reply: { id: "a", title: "A" } }, { type: "interactive", reply: { id: "a", title: "A" } }],
  [
    { media: { type: "audio", url: "https://example.com/a.ogg" } },
    { type: "audio", media: { url: "https://example.com/a.ogg", caption: null, file_name: null } },
  ],
])("a contact can send %j", async (fields, content) => {
  const app = createMemorySimulator();
  await call(app, inboundLine, { body: { from: phone, name: "Ana", ...fields } });
  expect(app.inbound[0]).toMatchObject({ name: "Ana", content });
});

test("a contact can write to a given inbox, or to none in particular", async () => {
  const app = createMemorySimulator();
  await call(app, inboundLine, { body: { from: phone, to: "15550000002", text: "Hi" } });
  await call(app, inboundLine, { body: { from: phone, text: "Hi" } });
  expect(app.inbound.map(({ to }) => to)).toEqual(["+15550000002", null]);
});

test.each([
  [{ from: phone, to: "support", text: "Hi" }, "to"],
  [{ from: phone }, "text"],
  [{ from: phone, text: "Hi", button: "Yes" }, "text"],
  [{ from: phone, text: "\0" }, "text"],
  [{ from: phone, media: { type: "image", url: "file:///etc/passwd" } }, "media.url"],
  [{ text: "Hi" }, "from"],
  [undefined, "from"],
  ["Hi", ""],
])("%j is rejected with its field", async (body, field) => {
  expect(await call(createMemorySimulator(), inboundLine, { body })).toMatchObject({ invalid: { field } });
});

test("faults are replaced as a whole, and a misspelt one is rejected", async () => {
  const app = createMemorySimulator();
  const faultsLine = "PUT /simulator/faults";
  await call(app, faultsLine, { body: { lost_receipts: 0.5 } });
  await call(app, faultsLine, { body: { failures: [{ code: 131026, to: "14155550123" }] } });
  const data = {
    accept_delay_ms: 0,
    receipt_delay_ms: 150,
    lost_receipts: 0,
    doubled_receipts: 0,
    swapped_receipts: 0,
    lost_answers: 0,
    fetch_media: true,
    pricing: null,
    failures: [{ code: 131026, share: 1, to: phone }],
  };
  expect(await call(app, "GET /simulator/faults")).toEqual({ status: 200, body: { data } });
  const invalid = [
    [{ lost_receipt: 1 }, "lost_receipt"],
    [{ lost_answers: 2 }, "lost_answers"],
    [{ failures: [{ code: 131026, to: "no number" }] }, "failures.0.to"],
  ] as const;
  for (const [body, field] of invalid) {
    expect(await call(app, faultsLine, { body })).toMatchObject({ invalid: { field } });
  }
});

async function call(
  app: ReturnType<typeof createMemorySimulator>,
  line: string,
  request: Partial<CredentialRequest<"json">> = {},
) {
  const route = app.routes.find(({ methods, path }) => `${methods} ${path}` === line);
  const empty = {
    params: {},
    query: {},
    headers: {},
    isHead: false,
    body: undefined,
  };
  return route?.handle({ organization_id: "org_1", caller: callerOf("org_1"), ...empty, ...request });
}
