/**
 * The WhatsApp emulator: which requests it accepts, which it refuses with Meta's codes,
 * and the built command.
 */
import { describe, expect, test } from "vitest";
import examples from "../../test/fixtures/whatsapp/meta-examples.json" with { type: "json" };
import { startProcess } from "../../test/support/process.ts";
import {
  access_token,
  app_id,
  approveTemplate,
  customer,
  type EmulatorTest,
  errorOf,
  type Json,
  phone_number_id,
  upload,
  uploadSample,
  useEmulator,
  waba_id,
} from "../../test/support/whatsapp-emulator.ts";

const current = useEmulator();

describe("Meta's examples", () => {
  test.each(examples.send.map(({ name, body }) => [name, body] as const))(
    "%s is accepted",
    async (_, body) => {
      const emulator = current();
      const filled = await fill(emulator, body);
      if (filled.type === "template") {
        await approveTemplate(emulator, templateOf(filled.template, await uploadSample(emulator)));
      }
      const answer = await emulator.graph("POST", `${phone_number_id}/messages`, filled);
      expect(answer.body).toEqual(
        filled.status === "read"
          ? { success: true }
          : { messaging_product: "whatsapp", contacts: [expect.anything()], messages: [expect.anything()] },
      );
    },
  );

  test.each(examples.templates.map(({ name, body }) => [name, body] as const))(
    "%s is accepted",
    async (_, body) => {
      const emulator = current();
      const handle = await uploadSample(emulator);
      const text = JSON.stringify(body)
        .replace(/"4::[^"]*"/g, JSON.stringify(handle))
        .replace("<TEMPLATE_NAME>", "flow_template");
      const answer = await emulator.graph("POST", `${waba_id}/message_templates`, text);
      expect([answer.status, answer.body.status]).toEqual([200, "PENDING"]);
    },
  );
});

describe("a bad request is refused", () => {
  const button = (title: string, id = "1") => ({ type: "reply", reply: { id, title } });
  const interactive = (content: object) => ({ type: "interactive", interactive: content });
  const row = (id: number) => ({ id: `${id}`, title: `Row ${id}` });
  const bad: Readonly<Record<string, readonly [message: object, code: number]>> = {
    "without messaging_product": [{ messaging_product: undefined, text: { body: "a" } }, 100],
    "without a recipient": [{ to: undefined, text: { body: "a" } }, 100],
    "to what is no number": [{ to: "Ada", text: { body: "a" } }, 100],
    "to the sender": [{ to: "15550783881", text: { body: "a" } }, 131021],
    "of an unknown type": [{ type: "telepathy" }, 100],
    "with a text that is too long": [{ text: { body: "a".repeat(4097) } }, 100],
    "with an empty text": [{ text: { body: "" } }, 100],
    "with a text without a body": [{ text: {} }, 131008],
    "with an unknown parameter": [{ text: { body: "a", color: "red" } }, 100],
    "with media by id and link": [{ type: "image", image: { id: "1", link: "https://a.b/c.png" } }, 100],
    "with an unknown media id": [{ type: "image", image: { id: "1" } }, 100],
    "with a caption of audio": [{ type: "audio", audio: { link: "https://a.b/c.ogg", caption: "a" } }, 100],
    "with a long callback data": [{ text: { body: "a" }, biz_opaque_callback_data: "a".repeat(513) }, 100],
    "with a location without a longitude": [{ type: "location", location: { latitude: 1 } }, 131008],
    "with four buttons": [
      interactive({
        type: "button",
        body: { text: "a" },
        action: { buttons: ["a", "b", "c", "d"].map((name) => button(name, name)) },
      }),
      131009,
    ],
    "with a button label that is too long": [
      interactive({ type: "button", body: { text: "a" }, action: { buttons: [button("a".repeat(21))] } }),
      131009,
    ],
    "with two buttons of one id": [
      interactive({ type: "button", body: { text: "a" }, action: { buttons: [button("a"), button("b")] } }),
      131009,
    ],
    "with buttons below a body that is too long": [
      interactive({ type: "button", body: { text: "a".repeat(1025) }, action: { buttons: [button("a")] } }),
      131009,
    ],
    "with buttons and no body": [interactive({ type: "button", action: { buttons: [button("a")] } }), 131008],
    "with a list of eleven rows": [
      interactive({
        type: "list",
        body: { text: "a" },
        action: {
          button: "Choose",
          sections: [
            { title: "One", rows: [1, 2, 3, 4, 5, 6].map(row) },
            { title: "Two", rows: [7, 8, 9, 10, 11].map(row) },
          ],
        },
      }),
      131009,
    ],
    "with a link button to no web address": [
      interactive({
        type: "cta_url",
        body: { text: "a" },
        action: { name: "cta_url", parameters: { display_text: "Open", url: "ftp://a.b" } },
      }),
      131009,
    ],
  };

  test.each(Object.entries(bad))("%s", async (_, [message, code]) => {
    expect(errorOf(await current().send(message))).toEqual([400, code]);
  });

  test("that is no JSON object", async () => {
    const answer = await current().graph("POST", `${phone_number_id}/messages`, "[1]");
    expect(errorOf(answer)).toEqual([400, 100]);
  });
});

test("errors have Meta's envelope, and answers Meta's headers", async () => {
  const answer = await current().send({ text: {} });
  expect(answer.body).toEqual({
    error: {
      message: "(#131008) Required parameter is missing",
      type: "OAuthException",
      code: 131008,
      error_data: { messaging_product: "whatsapp", details: "Required parameter is missing: text['body']" },
      fbtrace_id: expect.stringMatching(/^A[\w-]{22}$/),
    },
  });
  expect(answer.headers.get("facebook-api-version")).toBe("v25.0");
  expect(answer.headers.get("x-fb-request-id")).toMatch(/^A/);
});

test("a long list body is accepted, because only other types are limited to 1024 characters", async () => {
  const action = { button: "Choose", sections: [{ rows: [{ id: "1", title: "One" }] }] };
  const list = { type: "list", body: { text: "a".repeat(4096) }, action };
  const answer = await current().send({ type: "interactive", interactive: list });
  expect(answer.status).toBe(200);
});

test("without a valid token everything is 401 with the code 190, and an expired one has its subcode", async () => {
  const { graph, control } = current();
  expect(errorOf(await graph("GET", waba_id, undefined, "wrong"))).toEqual([401, 190]);
  const { body } = await control("POST", "/tokens", {});
  expect((await graph("GET", waba_id, undefined, body.access_token)).status).toBe(200);
  await control("POST", "/tokens/expire", { access_token: body.access_token });
  expect(errorOf(await graph("GET", waba_id, undefined, body.access_token))).toEqual([401, 190, 463]);
});

test("unknown and foreign objects are 400 with the code 100 and the subcode 33", async () => {
  const { graph, control } = current();
  const { body: account } = await control("POST", "/accounts", {});
  const { body: token } = await control("POST", "/tokens", { waba_ids: [account.waba_id] });
  expect(errorOf(await graph("GET", "123456"))).toEqual([400, 100, 33]);
  expect(errorOf(await graph("GET", waba_id, undefined, token.access_token))).toEqual([400, 100, 33]);
  expect(errorOf(await graph("POST", `${waba_id}/messages`, {}))).toEqual([400, 100, 33]);
});

test("a number and the numbers of an account show the fields that are asked for", async () => {
  const { graph } = current();
  const all = await graph("GET", `${phone_number_id}?fields=display_phone_number,status,throughput`);
  const number = { id: phone_number_id, display_phone_number: "+1 555-078-3881", status: "CONNECTED" };
  expect(all.body).toEqual({ ...number, throughput: { level: "STANDARD" } });
  const list = await graph("GET", `${waba_id}/phone_numbers?fields=display_phone_number`);
  expect(list.body.data).toEqual([{ id: phone_number_id, display_phone_number: "+1 555-078-3881" }]);
  expect(errorOf(await graph("GET", `${phone_number_id}?fields=shoe_size`))).toEqual([400, 100]);
});

test("any version is served, and nothing without one", async () => {
  const { emulator } = current();
  const headers = { authorization: `Bearer ${access_token}` };
  const read = async (path: string) => (await fetch(`${emulator.url}${path}`, { headers })).status;
  expect(await read(`/v26.0/${app_id}`)).toBe(200);
  expect(await read(`/${app_id}`)).toBe(400);
});

test("web pages cannot use it", async () => {
  const headers = { origin: "https://attacker.example" };
  const answer = await fetch(`${current().emulator.url}/emulator`, { headers });
  expect(answer.status).toBe(403);
});

test("the built command prints what a client needs, and serves it", async () => {
  const process = startProcess(["whatsapp-emulator", "--port", "0", "--access-token", "EAAtest"], {});
  try {
    const [, address = ""] = await process.waitForOutput(/Graph API\s+(http:\S+)/);
    const answer = await fetch(`${address}/${phone_number_id}/messages`, {
      method: "POST",
      headers: { authorization: "Bearer EAAtest", "content-type": "application/json" },
      body: JSON.stringify({ messaging_product: "whatsapp", to: customer, text: { body: "Hello" } }),
    });
    expect([answer.status, process.stdout()]).toEqual([200, expect.stringContaining(phone_number_id)]);
  } finally {
    await process.end("SIGTERM");
  }
});

/** Puts values that exist in place of Meta's placeholders. */
async function fill(emulator: EmulatorTest, body: object): Promise<Json> {
  const types = { AUDIO: "audio/ogg", DOCUMENT: "application/pdf", IMAGE: "image/png", VIDEO: "video/mp4" };
  let text = JSON.stringify(body)
    .replace(/\{\{Recipient[^}]*\}\}/g, customer)
    .replace(/<?https?\(?s?\)?:\/\/[^">]*>?|<?http\(s\):\/\/[^">]*>?/g, emulator.callbackUrl)
    .replace("<HEADER_TYPE>", "text")
    .replace("language-and-locale-code", "en_US")
    .replace(/"name":"(<TEMPLATE_NAME>|template-name)"/, '"name":"order_update"');
  for (const [placeholder, type] of Object.entries(types)) {
    if (text.includes(`<${placeholder}_OBJECT_ID>`)) {
      text = text.replace(`<${placeholder}_OBJECT_ID>`, await upload(emulator, type));
    }
  }
  if (text.includes("<MEDIA_OBJECT_ID>")) {
    text = text.replace("<MEDIA_OBJECT_ID>", await upload(emulator, "image/webp"));
  }
  const filled = JSON.parse(text);
  if (filled.status === "read") {
    await emulator.control("POST", "/inbound", { from: customer, text: "Hi", message_id: filled.message_id });
  }
  return filled;
}

/** A template to which the parameters of a message fit. */
function templateOf({ name, language, components = [] }: Json, handle: string): object {
  const find = (type: string) => components.find((component: Json) => component.type === type);
  const texts = find("body")?.parameters ?? [];
  const variables = texts.map((_: Json, index: number) => `the value {{${index + 1}}} and`).join(" ");
  const buttons = components.filter((component: Json) => component.type === "button");
  const image = find("header")
    ? [{ type: "HEADER", format: "IMAGE", example: { header_handle: [handle] } }]
    : [];
  return {
    name,
    language: language.code,
    components: [
      ...image,
      {
        type: "BODY",
        text: `Here we write ${variables} nothing else.`,
        ...(texts.length > 0 ? { example: { body_text: [texts.map(() => "sample")] } } : {}),
      },
      ...(buttons.length > 0
        ? [
            {
              type: "BUTTONS",
              buttons: buttons.map(({ sub_type }: Json) => ({ type: sub_type.toUpperCase(), text: "Go" })),
            },
          ]
        : []),
    ],
  };
}
