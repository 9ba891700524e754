/** Messages with a template to the WhatsApp emulator: which template, which parameters, which buttons. */
import { describe, expect, test } from "vitest";
import {
  approveTemplate,
  errorOf,
  uploadSample,
  useEmulator,
  waba_id,
} from "../../test/support/whatsapp-emulator.ts";

const current = useEmulator();

const body = (text: string, ...samples: string[]) => ({
  type: "BODY",
  text,
  ...(samples.length > 0 ? { example: { body_text: [samples] } } : {}),
});
const shipped = body("Your order has been shipped.");
const withVariable = body("Your order {{1}} has been shipped.", "A1");

describe("a message with a template", () => {
  const text = (value: string) => ({ type: "text", text: value });
  const send = (components: object[], more: object = {}) =>
    current().send({
      type: "template",
      template: { name: "order_update", language: { code: "en_US" }, components, ...more },
    });

  test("that does not exist in the language, or is not approved, is 404 with 132001", async () => {
    expect(errorOf(await send([]))).toEqual([404, 132001]);
    await current().graph("POST", `${waba_id}/message_templates`, {
      name: "order_update",
      language: "en_US",
      category: "UTILITY",
      components: [shipped],
    });
    expect(errorOf(await send([]))).toEqual([404, 132001]);
    await current().advance(1_000);
    expect((await send([])).status).toBe(200);
    expect(errorOf(await send([], { language: { code: "de" } }))).toEqual([404, 132001]);
  });

  test("needs as many parameters as the template has variables", async () => {
    await approveTemplate(current(), { components: [withVariable] });
    const refused = await send([{ type: "body", parameters: [text("a"), text("b")] }]);
    expect(errorOf(refused)).toEqual([400, 132000]);
    expect(refused.body.error.error_data.details).toBe(
      "body: number of localizable_params (2) does not match the expected number of params (1)",
    );
    expect(errorOf(await send([]))).toEqual([400, 132000]);
    expect((await send([{ type: "body", parameters: [text("A1")] }])).status).toBe(200);
    const long = await send([{ type: "body", parameters: [text("a".repeat(1024))] }]);
    expect(errorOf(long)).toEqual([400, 132005]);
  });

  test("with named parameters needs their names", async () => {
    const named = {
      type: "BODY",
      text: "Your order {{order}} has been shipped.",
      example: { body_text_named_params: [{ param_name: "order", example: "A1" }] },
    };
    await approveTemplate(current(), { parameter_format: "NAMED", components: [named] });
    expect(errorOf(await send([{ type: "body", parameters: [text("A1")] }]))).toEqual([400, 100]);
    const parameter = { ...text("A1"), parameter_name: "order" };
    expect((await send([{ type: "body", parameters: [parameter] }])).status).toBe(200);
  });

  test("needs the file of the header and the values of the buttons", async () => {
    const handle = await uploadSample(current());
    const url = { type: "URL", text: "Track", url: "https://a.b/{{1}}", example: ["A1"] };
    await approveTemplate(current(), {
      components: [
        { type: "HEADER", format: "IMAGE", example: { header_handle: [handle] } },
        shipped,
        { type: "BUTTONS", buttons: [url] },
      ],
    });
    const link = current().callbackUrl;
    const image = { type: "header", parameters: [{ type: "image", image: { link } }] };
    const button = { type: "button", sub_type: "url", index: "0", parameters: [text("A1")] };
    expect(errorOf(await send([button]))).toEqual([400, 132012]);
    expect(errorOf(await send([image]))).toEqual([400, 131008]);
    expect(errorOf(await send([image, { ...button, sub_type: "quick_reply" }]))).toEqual([400, 132012]);
    expect(errorOf(await send([image, button, { ...button, index: "1" }]))).toEqual([400, 132012]);
    expect((await send([image, button])).status).toBe(200);
  });

  test("is answered with its quick reply", async () => {
    const { control, changes, emulator } = current();
    const buttons = [{ type: "QUICK_REPLY", text: "Stop" }];
    await approveTemplate(current(), { components: [shipped, { type: "BUTTONS", buttons }] });
    const payload = { type: "payload", payload: "stop-it" };
    await send([{ type: "button", sub_type: "quick_reply", index: "0", parameters: [payload] }]);
    await control("POST", "/inbound", { from: "14155550123", choose: "Stop" });
    await emulator.idle();
    expect(changes("messages").at(-1).value.messages[0]).toMatchObject({
      type: "button",
      button: { payload: "stop-it", text: "Stop" },
      context: { id: expect.stringMatching(/^wamid\./) },
    });
  });
});
