/** The organization's settings, and how phone numbers without a country code are read by them. */
import { afterEach, describe, expect, test } from "vitest";
import { apiKeys } from "../tools/api-keys.ts";
import { auth } from "../tools/auth.ts";
import { contacts } from "../tools/contacts.ts";
import { imports } from "../tools/imports.ts";
import { inboxes } from "../tools/inboxes.ts";
import { messages } from "../tools/messages/index.ts";
import { organization } from "../tools/organization.ts";
import { uploads } from "../tools/uploads.ts";
import { startTestApp, useTestApp } from "./support/app.ts";
import { expectFailure } from "./support/expect-failure.ts";
import { createOtherTenant } from "./support/other-tenant.ts";

const app = useTestApp();
const update = (changes: object) => app.call(organization.update_organization, changes);
const defaults = {
  name: "My organization",
  time_zone: "UTC",
  default_country: null,
  currency: "USD",
  business_hours: null,
  default_language: null,
};

afterEach(() => update(defaults));

describe("the settings", () => {
  test("are changed in part, shown by whoami, and apply to one organization", async () => {
    const other = await createOtherTenant(app);
    const { data } = await app.call(organization.get_organization, {});
    expect(data).toMatchObject(defaults);
    const changed = await update({ name: " Ada's shop ", time_zone: "Europe/Berlin", default_country: "de" });
    expect(changed.data).toEqual({
      ...data,
      name: "Ada's shop",
      time_zone: "Europe/Berlin",
      default_country: "DE",
    });
    const renamed = await update({ name: "Shop" });
    expect(renamed.data).toEqual({ ...changed.data, name: "Shop" });
    const { id, name, time_zone, default_country, currency } = renamed.data;
    const shown = { id, name, time_zone, default_country, currency };
    expect((await app.call(auth.whoami, {})).data.organization).toEqual(shown);
    expect((await update({ default_country: null })).data.default_country).toBeNull();
    const theirs = await app.call(organization.get_organization, {}, { key: other.key });
    expect(theirs.data).toMatchObject({ ...defaults, name: "Other" });
  });

  test.each([
    ["europe/berlin", "Europe/Berlin"],
    ["utc", "UTC"],
    ["Asia/Kolkata", "Asia/Kolkata"],
  ])("time_zone %s is stored as %s", async (sent, time_zone) => {
    expect((await update({ time_zone: sent })).data).toMatchObject({ time_zone });
  });

  test.each([
    ["time_zone", "Berlin", "invalid_request"],
    ["time_zone", "+01:00", "invalid_request"],
    ["default_country", "Germany", "invalid_request"],
    ["default_country", "XX", "unknown_country"],
    ["currency", "Euro", "invalid_request"],
    ["currency", "EUX", "invalid_request"],
    ["default_language", "English", "invalid_request"],
  ])("%s %s is rejected with its field", async (field, value, code) => {
    const failure = await expectFailure(update({ [field]: value }));
    expect(failure).toMatchObject({ status: 400, code, error: { param: field } });
  });

  test("have a currency, which whoami shows, and a default language", async () => {
    // No message of another test has fixed its currency.
    await using own = await startTestApp();
    const update = (changes: object) => own.call(organization.update_organization, changes);
    const { data } = await update({ currency: "eur", default_language: "pt_BR" });
    expect(data).toMatchObject({ currency: "EUR", default_language: "pt_BR" });
    expect((await own.call(auth.whoami, {})).data.organization).toMatchObject({ currency: "EUR" });
    expect((await update({ default_language: null })).data).toMatchObject({
      currency: "EUR",
      default_language: null,
    });
  });

  test("are read with any credential and changed with tokens:create", async () => {
    const { data: key } = await app.call(apiKeys.create_api_key, { name: "r", scopes: ["inbox:read"] });
    const { data } = await app.call(organization.get_organization, {}, { key: key.secret_key });
    expect(data).toMatchObject(defaults);
    const failure = await expectFailure(
      app.call(organization.update_organization, { name: "x" }, { key: key.secret_key }),
    );
    expect(failure).toMatchObject({ status: 403, error: { required_scopes: ["tokens:create"] } });
  });
});

describe("business hours", () => {
  const closed = { tuesday: [], wednesday: [], thursday: [], friday: [], saturday: [], sunday: [] };

  test("are stored in order with every weekday and the holidays, and replaced as a whole", async () => {
    const afternoon = { from: "13:00", to: "24:00" };
    const morning = { from: "09:00", to: "13:00" };
    const holidays = [{ date: "2026-12-25", name: "Christmas" }, { date: "2027-01-01" }];
    const { data } = await update({ business_hours: { monday: [afternoon, morning], holidays } });
    expect(data.business_hours).toEqual({ ...closed, monday: [morning, afternoon], holidays });
    expect((await update({ name: "Shop" })).data.business_hours).toEqual(data.business_hours);
    const { data: replaced } = await update({ business_hours: { sunday: [morning] } });
    expect(replaced.business_hours).toEqual({ ...closed, monday: [], sunday: [morning], holidays: [] });
    expect((await update({ business_hours: null })).data.business_hours).toBeNull();
  });

  const from9 = { from: "09:00", to: "12:00" };
  test.each([
    [
      { monday: [from9, { from: "11:59", to: "13:00" }] },
      "business_hours.monday",
      "Send intervals that do not overlap.",
    ],
    [{ friday: [{ from: "17:00", to: "09:00" }] }, "business_hours.friday[0].to", "Send a time after from."],
    [{ friday: [{ from: "9:00", to: "17:00" }] }, "business_hours.friday[0].from", "Send a time like 09:00."],
    [
      { friday: [{ from: "09:00", to: "24:01" }] },
      "business_hours.friday[0].to",
      "Send a time like 17:00, or 24:00 for midnight.",
    ],
    [
      { holidays: [{ date: "2026-02-30" }] },
      "business_hours.holidays[0].date",
      "Send a date like 2026-12-25.",
    ],
    [
      { holidays: [{ date: "2026-12-25" }, { date: "2026-12-25", name: "Again" }] },
      "business_hours.holidays",
      "Send each date once.",
    ],
  ])("%j is rejected: %s", async (business_hours, param, message) => {
    const failure = await expectFailure(update({ business_hours }));
    expect(failure).toMatchObject({ status: 400, code: "invalid_request", error: { param } });
    expect(failure.error?.details).toEqual([expect.objectContaining({ field: param, message })]);
  });

  test("with an unknown weekday are rejected", async () => {
    const failure = await expectFailure(update({ business_hours: { montag: [from9] } }));
    expect(failure).toMatchObject({ status: 400, code: "unknown_argument" });
  });
});

const text = { type: "text", text: { body: "hello" } } as const;
const send = (to: string, fields: { inbox_id?: string } = {}) =>
  app.call(messages.send_message, { to, ...text, ...fields });

async function importPhones(...phones: string[]) {
  const content_base64 = Buffer.from(`phone\n${phones.join("\n")}\n`).toString("base64");
  const { data } = await app.call(uploads.upload_file, { content_base64, file_name: "people.csv" });
  const { data: job } = await app.call(imports.import_contacts, { upload_id: data.id });
  await app.runDueJobs();
  return (await app.call(imports.get_import, { id: job.id })).data;
}

describe("a number without a country code", () => {
  const createInbox = (phone_number: string, settings: { default_country?: string } = {}) =>
    app.call(inboxes.create_inbox, { name: "Second", phone_number, settings });
  const uses: readonly [use: string, field: string, call: (number: string) => Promise<unknown>][] = [
    ["send_message", "to", (to) => send(to)],
    ["create_contact", "phone_number", (phone_number) => app.call(contacts.create_contact, { phone_number })],
    ["upsert_contact", "phone_number", (phone_number) => app.call(contacts.upsert_contact, { phone_number })],
    ["create_inbox", "phone_number", (phone_number) => createInbox(phone_number)],
  ];

  test.each(uses)("is rejected by %s without a default country", async (_, field, call) => {
    const failure = await expectFailure(call("(650) 253-0000"));
    expect(failure).toMatchObject({
      status: 400,
      code: "invalid_phone_number",
      error: {
        param: field,
        message:
          "(650) 253-0000 is not a valid phone number. It has no + with a country code, and there is no default_country. Perhaps +16502530000 is meant.",
        fix: expect.stringMatching(/^Write it with \+ .* set default_country with update_organization/),
        suggestions: ["+16502530000"],
      },
    });
    const { data } = await app.call(contacts.list_contacts, { search: "2530000" });
    expect(data).toEqual([]);
  });

  test("is suggested as international only if it is no number of the organization's country", async () => {
    const german = await expectFailure(send("4915112345678"));
    expect(german.error).toMatchObject({ suggestions: ["+4915112345678"] });
    const unknown = await expectFailure(send("12345"));
    expect(unknown.error).toMatchObject({ code: "invalid_phone_number", suggestions: [] });
  });

  test("is read as a number of the default country, however it is written", async () => {
    await update({ default_country: "DE" });
    const { data } = await send("0151 23456789");
    expect(data.to).toBe("+4915123456789");
    const upserted = async (phone_number: string) =>
      (await app.call(contacts.upsert_contact, { phone_number })).data.phone_number;
    for (const number of ["0151/23456789", "151 23456789", "tel:015123456789"]) {
      expect(await upserted(number)).toBe("+4915123456789");
    }
    for (const number of ["+1 650 253 0001", "001 650 253 0001", "(001) 650 253 0001"]) {
      expect(await upserted(number)).toBe("+16502530001");
    }
    const failure = await expectFailure(app.call(contacts.upsert_contact, { phone_number: "0033 1 2 3" }));
    expect(failure).toMatchObject({
      message: expect.stringContaining("There is no number of this length with this country code."),
    });
  });

  test("that begins with the default country's code is read if it can only be one number", async () => {
    await update({ default_country: "BR" });
    expect((await send("55 11 98765-4321")).data.to).toBe("+5511987654321");
    await update({ default_country: "DE" });
    const failure = await expectFailure(send("49 151 23456789"));
    expect(failure.error).toMatchObject({
      message: expect.stringContaining("It could be either of two numbers. Perhaps +49151"),
      suggestions: ["+4915123456789", "+494915123456789"],
    });
  });

  test("is never read as a number of another country", async () => {
    await update({ default_country: "US" });
    const failure = await expectFailure(send("4915112345678"));
    expect(failure.error).toMatchObject({
      code: "invalid_phone_number",
      message: expect.stringContaining("is not a number of the default country, US."),
      suggestions: ["+4915112345678"],
    });
  });

  test("is read by the inbox that sends, before the organization's country", async () => {
    await update({ default_country: "US" });
    const { data: inbox } = await createInbox("020 7946 0900", { default_country: "gb" });
    expect(inbox).toMatchObject({ phone_number: "+442079460900", settings: { default_country: "GB" } });
    expect((await send("020 7946 0901", { inbox_id: inbox.id })).data.to).toBe("+442079460901");
    expect((await send("650 253 0002")).data.to).toBe("+16502530002");
    const failure = await expectFailure(createInbox("+442079460902", { default_country: "XX" }));
    expect(failure).toMatchObject({ code: "unknown_country", error: { param: "settings.default_country" } });
  });

  test("is found by a search as it is dialled in the default country", async () => {
    const { data } = await app.call(contacts.create_contact, { phone_number: "+4930901820" });
    const find = async (search: string) =>
      (await app.call(contacts.list_contacts, { search })).data.map(({ id }) => id);
    expect(await find("030 901820")).toEqual([]);
    await update({ default_country: "DE" });
    expect(await find("030 901820")).toEqual([data.id]);
    expect(await find("0049 30 901820")).toEqual([data.id]);
    expect(await find("90182")).toEqual([data.id]);
  });

  test("in a row of an import is rejected with what to do, or read by the default country", async () => {
    const rejected = await importPhones("+16502530010", "(650) 253-0011");
    expect(rejected).toMatchObject({ created: 1, rejected: 1 });
    expect(rejected.errors).toEqual([
      {
        line: 3,
        reason:
          "The phone number is not valid. It has no + with a country code, and there is no default_country. Perhaps +16502530011 is meant. Write it with the country code, like +14155550123, or set default_country with update_organization (PUT /v1/organization).",
      },
    ]);
    await update({ default_country: "US" });
    expect(await importPhones("16502530010", "(650) 253-0011")).toMatchObject({
      created: 1,
      updated: 1,
      rejected: 0,
    });
  });
});
