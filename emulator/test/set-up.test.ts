/** The WhatsApp emulator's set-up of an app and a number: proofs, tokens, subscriptions and registration. */
import { createHmac } from "node:crypto";
import { describe, expect, test } from "vitest";
import {
  type Answer,
  access_token,
  app_id,
  app_secret,
  customer,
  type Json,
  phone_number_id,
  useEmulator,
  verify_token,
  waba_id,
} from "../../test/support/whatsapp-emulator.ts";

const current = useEmulator();
const appToken = `${app_id}|${app_secret}`;
const object = "whatsapp_business_account";
const errorOf = ({ body }: Answer) => body.error;

describe("the proof of the app's secret", () => {
  const proof = (secret: string) => createHmac("sha256", secret).update(access_token).digest("hex");
  const read = (query = "") => current().graph("GET", `${waba_id}${query}`);

  test("is refused if it is wrong, and if it is missing where the app requires it", async () => {
    expect((await read()).status).toBe(200);
    expect(errorOf(await read(`?appsecret_proof=${proof("another secret")}`)).message).toBe(
      "(#100) Invalid appsecret_proof provided in the API argument",
    );
    const { body } = await current().control("POST", `/apps/${app_id}`, { require_app_secret: true });
    expect(body.require_app_secret).toBe(true);
    expect(errorOf(await read()).message).toBe(
      "(#100) API calls from the server require an appsecret_proof argument",
    );
    expect((await read(`?appsecret_proof=${proof(app_secret)}`)).status).toBe(200);
  });
});

describe("a token of the app", () => {
  test("with another secret is no token", async () => {
    const answer = await current().graph("GET", `${app_id}/subscriptions`, undefined, `${app_id}|wrong`);
    expect(answer.status).toBe(401);
    expect(errorOf(answer)).toMatchObject({ code: 190, message: "Invalid OAuth access token signature." });
  });

  test("describes the access tokens of the app", async () => {
    const { graph, control } = current();
    const debug = async (token: string) =>
      (await graph("GET", `debug_token?input_token=${token}`, undefined, appToken)).body;
    expect((await debug(access_token)).data).toMatchObject({
      app_id,
      is_valid: true,
      expires_at: 0,
      scopes: ["whatsapp_business_management", "whatsapp_business_messaging"],
    });
    expect((await debug("unknown")).data).toMatchObject({ is_valid: false });
    await control("POST", "/tokens/expire", { access_token });
    expect((await debug(access_token)).data).toMatchObject({ is_valid: false, error: { subcode: 463 } });
    const other = await control("POST", "/apps", {});
    const foreign = await control("POST", "/tokens", { app_id: other.body.app_id });
    expect((await debug(foreign.body.access_token)).error.message).toContain("did not match");
  });

  test("is needed for subscriptions, and reads no account", async () => {
    const { graph } = current();
    expect(errorOf(await graph("GET", `${app_id}/subscriptions`)).code).toBe(15);
    expect(errorOf(await graph("GET", waba_id, undefined, appToken)).error_subcode).toBe(33);
  });
});

describe("the subscription of the app", () => {
  const subscribe = (more: object = {}) => {
    const { graph, callbackUrl } = current();
    const body = { object, callback_url: callbackUrl, verify_token, fields: ["messages"], ...more };
    return graph("POST", `${app_id}/subscriptions`, body, appToken);
  };

  test("is verified, and its fields alone are reported", async () => {
    const { graph, control, emulator, changes, callbackUrl } = current();
    await control("POST", `/apps/${app_id}`, { callback_url: null });
    const list = async () => (await graph("GET", `${app_id}/subscriptions`, undefined, appToken)).body.data;
    expect(await list()).toEqual([]);
    expect((await subscribe()).body).toEqual({ success: true });
    const fields = [{ name: "messages", version: "v25.0" }];
    expect(await list()).toEqual([{ object, callback_url: callbackUrl, active: true, fields }]);
    await control("POST", "/inbound", { from: customer, text: "Hi" });
    await control("POST", `/phone-numbers/${phone_number_id}`, { messaging_limit: "TIER_2K" });
    await emulator.idle();
    expect(changes().map(({ field }: Json) => field)).toEqual(["messages"]);
  });

  test.each([
    ["another verify token", { verify_token: "another token" }, 2200, "HTTP Status Code = 403"],
    ["an address that is none", { callback_url: "ftp://example.com" }, 100, "Invalid callback URI format"],
    ["an unknown field", { fields: "messages,unknown" }, 100, "Param fields[1]"],
    ["another object", { object: "page" }, 100, "Param object"],
    ["no verify token", { verify_token: "" }, 100, "verify_token is required"],
  ])("is refused with %s", async (_, more, code, message) => {
    const error = errorOf(await subscribe(more));
    expect(error.code).toBe(code);
    expect(error.message).toContain(message);
  });
});

describe("the registration of a number", () => {
  const path = `${phone_number_id}/register`;
  const register = (pin: unknown) => current().graph("POST", path, { messaging_product: "whatsapp", pin });
  const describeNumber = async () =>
    (await current().graph("GET", `${phone_number_id}?fields=status,platform_type,is_pin_enabled`)).body;

  test("connects it and sets its PIN, which the next one needs", async () => {
    await current().control("POST", `/phone-numbers/${phone_number_id}`, { status: "DISCONNECTED" });
    expect(await describeNumber()).toMatchObject({ status: "DISCONNECTED", platform_type: "NOT_APPLICABLE" });
    expect((await register("123456")).body).toEqual({ success: true });
    expect(await describeNumber()).toMatchObject({
      status: "CONNECTED",
      platform_type: "CLOUD_API",
      is_pin_enabled: true,
    });
    expect(errorOf(await register("654321")).code).toBe(133005);
    expect((await register("123456")).status).toBe(200);
  });

  test.each(["12345", "1234567", 123456, undefined])("needs six digits, and not %j", async (pin) => {
    expect(errorOf(await register(pin)).code).toBe(100);
  });

  test("needs the permission to manage", async () => {
    const { control, graph } = current();
    const token = await control("POST", "/tokens", { permissions: ["whatsapp_business_messaging"] });
    const body = { messaging_product: "whatsapp", pin: "123456" };
    expect(errorOf(await graph("POST", path, body, token.body.access_token)).code).toBe(200);
  });
});
