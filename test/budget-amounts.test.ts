/** What budgets count beside messages: new contacts, however they are created, and spend. */
import { expect, test } from "vitest";
import { apiKeys } from "../tools/api-keys.ts";
import { cohorts } from "../tools/cohorts/index.ts";
import { imports } from "../tools/imports.ts";
import { uploads } from "../tools/uploads.ts";
import { useTestApp } from "./support/app.ts";
import { phoneNumbers } from "./support/broadcasts.ts";
import { createBudgetHelpers } from "./support/budgets.ts";
import { createPlanHelpers } from "./support/plans.ts";
import { createTemplateHelpers } from "./support/templates.ts";
import { trustedProxyEnv } from "./support/users.ts";

const app = useTestApp({ env: trustedProxyEnv, startsAt: new Date("2026-06-01T10:00:00Z") });
const { createBudgetedKey, decide, request, send, signPerson, useOf } = createBudgetHelpers(app);
const { read } = createPlanHelpers(app);

test("new contacts count, whether a message or a call creates them", async () => {
  const { key, id } = await createBudgetedKey({ new_contacts: { day: 3 } });
  expect((await send("+14155558009", "New", { key })).status).toBe(201);
  expect((await send("+14155558009", "Known", { key })).status).toBe(201);
  const create = (method: string, phone_number: string) =>
    request([method, "/v1/contacts", { phone_number }], { key });
  expect((await create("POST", "+14155558010")).status).toBe(201);
  expect((await create("PUT", "+14155558010")).status).toBe(200);
  expect((await create("PUT", "+14155558011")).status).toBe(200);
  expect((await useOf(id))?.new_contacts.day.used).toBe(3);
  const beyond = [
    await create("POST", "+14155558012"),
    await create("PUT", "+14155558013"),
    await send("+14155558014", "New", { key }),
  ];
  expect(beyond.map(({ status }) => status)).toEqual([202, 202, 202]);
  expect((await send("+14155558009", "Known", { key })).status).toBe(201);
  const [{ body } = { body: undefined }] = beyond;
  const { token } = await signPerson();
  const released = await decide("approve", await read(body?.data.plan.id ?? ""), token);
  expect(released.status).toBe(200);
  expect((await useOf(id))?.new_contacts.day.used).toBe(4);
});

test("an import and a cohort from a file end where the budget of new contacts does", async () => {
  const { key, id } = await createBudgetedKey({ new_contacts: { day: 30 } });
  const rows = (area: number, count: number) => ["phone", ...phoneNumbers(count, area)].join("\n");
  const upload = async (content: string) => {
    const content_base64 = Buffer.from(content).toString("base64");
    return (await app.call(uploads.upload_file, { content_base64, file_name: "people.csv" }, { key })).data
      .id;
  };
  const importFile = async (content: string) => {
    const input = { upload_id: await upload(content) };
    const started = await app.call(imports.import_contacts, input, { key });
    await app.runDueJobs();
    return (await app.call(imports.get_import, { id: started.data.id })).data;
  };
  expect(await importFile(rows(831, 25))).toMatchObject({ status: "done", created: 25 });
  // Known contacts are not counted again.
  expect(await importFile(rows(831, 25))).toMatchObject({ status: "done", created: 0 });
  const beyond = await importFile(rows(832, 10));
  expect(beyond).toMatchObject({ status: "failed", created: 0 });
  expect(beyond.failure).toMatch(
    /beyond the budget of the key .* for new contacts in a day \(limit 30, used 25, needed 10\)/,
  );
  expect((await useOf(id))?.new_contacts.day.used).toBe(25);
  const cohort = {
    name: "From a file",
    type: "csv",
    query: {},
    upload_id: await upload(rows(833, 10)),
  } as const;
  const { data } = await app.call(cohorts.create_cohort, cohort, { key });
  await app.runDueJobs();
  expect((await app.call(cohorts.get_cohort, { id: data.id })).data).toMatchObject({
    status: "failed",
    failure: expect.stringContaining("for new contacts in a day (limit 30"),
  });
  expect((await useOf(id))?.new_contacts.day.used).toBe(25);
});

test("spend is the price at the acceptance, and simulated money counts on its own", async () => {
  await createTemplateHelpers(app).approve({ name: "priced", template_data: { body: "Hello" } });
  const json = { to: "+14155558015", type: "template", template: { name: "priced", language: "en" } };
  const { key, id } = await createBudgetedKey({ spend: { day: 1 } });
  const sendPriced = () => request(["POST", "/v1/messages", json], { key });
  expect((await sendPriced()).status).toBe(201);
  const spent = (await useOf(id))?.spend.day;
  const price = spent?.used_simulated ?? 0;
  expect(price).toBeGreaterThan(0);
  expect(spent).toMatchObject({ limit: 1, used: 0 });
  const limit = Number((price * 2.5).toFixed(6));
  await app.call(apiKeys.set_api_key_rules, { id, rules: { budgets: { spend: { day: limit } } } });
  expect((await sendPriced()).status).toBe(201);
  const beyond = await sendPriced();
  expect(beyond).toMatchObject({
    status: 202,
    body: { data: { plan: { why: [expect.stringContaining(`needed ${price})`)] } } },
  });
  expect((await useOf(id))?.spend.day).toMatchObject({ used: 0, used_simulated: price * 2 });
});
