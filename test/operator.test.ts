/** The operator's API: its key, organizations and their owners, lists, and limits of one organization. */
import { describe, expect, test } from "vitest";
import { apiKeys } from "../tools/api-keys.ts";
import { auth } from "../tools/auth.ts";
import { contacts } from "../tools/contacts.ts";
import { toolNames } from "../tools/contract/index.ts";
import { inboxes } from "../tools/inboxes.ts";
import { catalogue, operatorCatalogue } from "../tools/index.ts";
import { mcp } from "../tools/mcp.ts";
import { operator } from "../tools/operator.ts";
import { uploads } from "../tools/uploads.ts";
import { operatorKey, ownerEmail, ownerKey, startTestApp, useTestApp } from "./support/app.ts";
import { connectAssistant } from "./support/assistant.ts";
import { expectFailure } from "./support/expect-failure.ts";
import { asOperator, createOrganizationFor } from "./support/operator.ts";
import { signIn, trustedProxyEnv } from "./support/users.ts";

const app = useTestApp({ env: trustedProxyEnv });

const path = "/operator/v1/organizations";
const names = Object.keys(operatorCatalogue);
const required = { status: 401, code: "operator_key_required" };
const create = (input: object, key?: string) =>
  app.call(
    operator.create_organization,
    { name: "Shop", owner: { email: "ada@shop.example", name: "Ada" }, ...input },
    { ...asOperator, ...(key === undefined ? {} : { idempotencyKey: key }) },
  );

describe("the operator's key", () => {
  test("is accepted in both headers, and nothing else is", async () => {
    const { access_token } = await signIn(app, ownerEmail, "correct horse battery");
    const statusOf = async (headers: Record<string, string>) => {
      const answer = await app.fetch(path, { key: null, headers });
      return [answer.status, ((await answer.json()) as { error?: { code: string } }).error?.code];
    };
    expect(await statusOf({ "x-api-key": operatorKey })).toEqual([200, undefined]);
    expect(await statusOf({ authorization: `Bearer ${operatorKey}` })).toEqual([200, undefined]);
    for (const wrong of [ownerKey, access_token, `${operatorKey}p`, operatorKey.slice(1)]) {
      expect(await statusOf({ "x-api-key": wrong })).toEqual([401, required.code]);
      expect(await statusOf({ authorization: `Bearer ${wrong}` })).toEqual([401, required.code]);
    }
    expect(await statusOf({})).toEqual([401, required.code]);
  });

  test("is refused on /v1 and at /mcp", async () => {
    const failure = await expectFailure(app.call(contacts.list_contacts, {}, asOperator));
    expect(failure).toMatchObject({ status: 401, code: "credential_invalid" });
    await expect(connectAssistant(app, operatorKey)).rejects.toThrow("credential_invalid");
  });

  test("can be guessed 30 times a minute from an address", async () => {
    const from = { "x-forwarded-for": "203.0.113.7" };
    const guess = (key: string) => app.fetch(path, { key, headers: from });
    const statuses: number[] = [];
    for (let times = 0; times < 31; times += 1) {
      statuses.push((await guess(`wrong-${times}`)).status);
    }
    expect(statuses).toEqual([...Array.from({ length: 30 }, () => 401), 429]);
    expect((await guess(operatorKey)).status).toBe(200);
  });

  test("opens nothing where it is not set: the routes are unknown", async () => {
    await using plain = await startTestApp({ env: { TIDINGS_OPERATOR_KEY: "" } });
    for (const route of [path, `${path}/org_1`, `${path}/org_1/suspend`]) {
      const answer = await plain.fetch(route, { key: operatorKey, method: "POST", json: {} });
      expect([answer.status, await answer.json()]).toEqual([
        404,
        { error: expect.objectContaining({ code: "route_not_found" }) },
      ]);
    }
  });
});

test("no operation of the operator is a tool, a scope's, or in the OpenAPI document", async () => {
  expect(toolNames(operatorCatalogue)).toEqual([]);
  expect(names.filter((name) => name in catalogue)).toEqual([]);
  const { data } = await app.call(mcp.list_mcp_tools, {});
  expect(data.filter(({ name }) => names.includes(name))).toEqual([]);
  await using assistant = await connectAssistant(app, ownerKey);
  const { tools } = await assistant.client.listTools();
  expect(tools.filter(({ name }) => names.includes(name))).toEqual([]);
  const failure = await expectFailure(
    app.call(mcp.call_mcp_tool, { name: "list_organizations", arguments: {} }),
  );
  expect(failure).toMatchObject({ status: 404, code: "tool_not_found" });
  expect(await (await app.fetch("/v1/openapi.json")).text()).not.toContain("/operator/");
});

describe("an organization", () => {
  test("is created with its settings, an owner who can sign in, and a key with every scope", async () => {
    const { data } = await create({
      name: " Ada's shop ",
      owner: { email: "ada@example.net", name: "Ada", password: "a long enough password" },
      time_zone: "europe/berlin",
      default_country: "de",
      currency: "eur",
    });
    expect(data.organization).toEqual({
      id: expect.stringMatching(/^org_/),
      name: "Ada's shop",
      status: "active",
      suspended_at: null,
      suspension_reason: null,
      time_zone: "Europe/Berlin",
      default_country: "DE",
      currency: "EUR",
      limits: {},
      users: 1,
      inboxes: 1,
      created_at: app.now().toISOString(),
    });
    expect(data.owner).toEqual({ id: expect.stringMatching(/^usr_/), email: "ada@example.net", name: "Ada" });
    const { user } = await signIn(app, "ada@example.net", "a long enough password");
    expect(user).toMatchObject({ id: data.owner.id, role: "owner", organization_id: data.organization.id });
    const { data: described } = await app.call(auth.whoami, {}, { key: data.api_key.secret_key });
    expect(described).toMatchObject({ organization: { id: data.organization.id, currency: "EUR" } });
    expect(described.scopes).toContain("tokens:create");
  });

  test("gets a generated password, which a repeated request shows again and creates nothing", async () => {
    const input = { owner: { email: "bea@example.net", name: "Bea" } };
    const first = await create(input, "create-bea");
    expect(await create(input, "create-bea")).toEqual(first);
    const { user } = await signIn(app, "bea@example.net", first.data.owner.password ?? "");
    expect(user.organization_id).toBe(first.data.organization.id);
    expect(first.data.organization).toMatchObject({ time_zone: "UTC", currency: "USD" });
    const failure = await expectFailure(create({ ...input, name: "Other" }, "create-bea"));
    expect(failure).toMatchObject({ status: 422, code: "idempotency_key_reused" });
  });

  test("is not created for an e-mail address that a user of any organization has", async () => {
    const before = await app.call(operator.list_organizations, {}, asOperator);
    const owner = { email: ownerEmail.toUpperCase(), name: "Ada" };
    const failure = await expectFailure(create({ owner }));
    expect(failure).toMatchObject({ status: 409, code: "user_exists", error: { param: "owner.email" } });
    expect(failure.error).not.toHaveProperty("existing_id");
    const after = await app.call(operator.list_organizations, {}, asOperator);
    expect(after.meta.total).toBe(before.meta.total);
  });

  test.each([
    [{ currency: "XXX1" }, "currency"],
    [{ default_country: "XX" }, "default_country"],
    [{ time_zone: "Berlin" }, "time_zone"],
    [{ owner: { email: "no address", name: "Ada" } }, "owner.email"],
    [{ owner: { email: "c@example.net", name: "Ada", password: "short" } }, "owner.password"],
  ])("is not created with %j", async (input, param) => {
    expect(await expectFailure(create(input))).toMatchObject({ status: 400, error: { param } });
  });

  test("is found by its id and listed by name, newest first", async () => {
    const one = await createOrganizationFor(app, "Listed 100% one");
    const two = await createOrganizationFor(app, "Listed 100% two");
    const list = (input: object) => app.call(operator.list_organizations, input, asOperator);
    const { data, meta } = await list({ search: "listed 100%" });
    expect(data.map(({ id }) => id)).toEqual([two.id, one.id]);
    expect(meta).toEqual({ page: 1, per_page: 25, total: 2 });
    const second = await list({ search: "listed 100%", page: 2, per_page: 1 });
    expect(second.data.map(({ id }) => id)).toEqual([one.id]);
    const found = await app.call(operator.find_organization, { id: one.id }, asOperator);
    expect(found.data).toEqual(data[1]);
    const failure = await expectFailure(app.call(operator.find_organization, { id: "org_none" }, asOperator));
    expect(failure).toMatchObject({ status: 404, code: "organization_not_found" });
  });
});

describe("the limits of an organization", () => {
  const setLimits = (id: string, limits: object) =>
    app.call(operator.update_organization_limits, { id, limits }, asOperator);
  const createKey = (key: string) =>
    app.call(apiKeys.create_api_key, { name: "one", scopes: ["contacts.read"] }, { key });

  test("replace those of the settings for it alone, until they are removed", async () => {
    const [one, other] = [await createOrganizationFor(app, "One"), await createOrganizationFor(app, "Two")];
    const { data } = await setLimits(one.id, { api_keys: 2, inboxes: 1 });
    expect(data.limits).toEqual({ api_keys: 2, inboxes: 1 });
    expect((await setLimits(one.id, { webhooks: 0 })).data.limits).toEqual({
      api_keys: 2,
      inboxes: 1,
      webhooks: 0,
    });
    await createKey(one.key);
    expect(await expectFailure(createKey(one.key))).toMatchObject({
      status: 422,
      code: "quota_exceeded",
      error: { limit: 2, setting: "the organization's limit api_keys" },
    });
    const inbox = { name: "Second", phone_number: "+14155550177" };
    const failure = await expectFailure(app.call(inboxes.create_inbox, inbox, { key: one.key }));
    expect(failure).toMatchObject({ code: "quota_exceeded", error: { limit: 1 } });
    await createKey(other.key);
    await createKey(other.key);
    expect((await setLimits(one.id, { api_keys: null })).data.limits).toEqual({ inboxes: 1, webhooks: 0 });
    await createKey(one.key);
  });

  test("include the megabytes of files", async () => {
    const { id, key } = await createOrganizationFor(app, "Files");
    await setLimits(id, { stored_mb: 0 });
    const content_base64 = Buffer.from("phone\n+14155550199\n").toString("base64");
    const upload = () => app.call(uploads.upload_file, { content_base64, file_name: "a.csv" }, { key });
    expect(await expectFailure(upload())).toMatchObject({ code: "quota_exceeded", error: { limit: 0 } });
    await setLimits(id, { stored_mb: 1 });
    expect((await upload()).data.file_name).toBe("a.csv");
  });

  test.each([
    [{ inboxes: -1 }, "invalid_request"],
    [{ rooms: 3 }, "unknown_argument"],
  ])("%j is rejected", async (limits, code) => {
    const { id } = await createOrganizationFor(app, "Rejected");
    expect(await expectFailure(setLimits(id, limits))).toMatchObject({ status: 400, code });
  });

  test("of an unknown organization are not found", async () => {
    const failure = await expectFailure(setLimits("org_none", { inboxes: 1 }));
    expect(failure).toMatchObject({ status: 404, code: "organization_not_found" });
  });
});
