/**
 * Quotas: what an organization may have, by setting, also with concurrent requests;
 * another's use does not count.
 */
import { expect, test } from "vitest";
import { apiKeys } from "../tools/api-keys.ts";
import { cohorts } from "../tools/cohorts/index.ts";
import { flows } from "../tools/flows/index.ts";
import { imports } from "../tools/imports.ts";
import { inboxes } from "../tools/inboxes.ts";
import { messages } from "../tools/messages/index.ts";
import { quickReplies } from "../tools/quick-replies.ts";
import { routing } from "../tools/routing.ts";
import { teams } from "../tools/teams.ts";
import { uploads } from "../tools/uploads.ts";
import { webhooks } from "../tools/webhooks.ts";
import { useTestApp } from "./support/app.ts";
import { expectFailure } from "./support/expect-failure.ts";
import { createOtherTenant } from "./support/other-tenant.ts";
import { createTeamWithMembers } from "./support/teams.ts";
import { createTemplateHelpers } from "./support/templates.ts";

const app = useTestApp({
  env: {
    TIDINGS_QUOTA_STORED_MB: "1",
    TIDINGS_QUOTA_API_KEYS: "3",
    TIDINGS_QUOTA_WEBHOOKS: "2",
    TIDINGS_QUOTA_IMPORTS: "2",
    TIDINGS_QUOTA_INBOXES: "3",
    TIDINGS_QUOTA_QUICK_REPLIES: "2",
    TIDINGS_QUOTA_TEMPLATES: "2",
    TIDINGS_QUOTA_COHORTS: "2",
    TIDINGS_QUOTA_FLOWS: "2",
    TIDINGS_QUOTA_ROUTING_POLICIES: "2",
    TIDINGS_QUOTA_TEAM_MEMBERS: "2",
    TIDINGS_QUOTA_WAITING_CALLS: "2",
  },
});

/** Calls five times at once; returns how many succeeded, and one of the failures. */
async function callAtOnce(call: () => Promise<unknown>) {
  const outcomes = await Promise.allSettled(Array.from({ length: 5 }, call));
  const failed = outcomes.filter(({ status }) => status === "rejected");
  return { succeeded: outcomes.length - failed.length, failure: await expectFailure(call()) };
}

const createKey = (key?: string) =>
  app.call(
    apiKeys.create_api_key,
    { name: "one", scopes: ["contacts.read"] },
    key === undefined ? {} : { key },
  );

test("API keys", async () => {
  // One of the three is the first key.
  expect(await callAtOnce(createKey)).toMatchObject({
    succeeded: 2,
    failure: { status: 422, code: "quota_exceeded", error: { setting: "TIDINGS_QUOTA_API_KEYS", limit: 3 } },
  });
  const other = await createOtherTenant(app);
  expect((await createKey(other.key)).data.name).toBe("one");
});

test("webhooks", async () => {
  const create = () =>
    app.call(webhooks.create_webhook, { url: "https://example.com/hook", events: ["message.sent"] });
  expect(await callAtOnce(create)).toMatchObject({ succeeded: 2, failure: { code: "too_many_webhooks" } });
});

test("inboxes, quick replies, templates, cohorts, flows and routing policies", async () => {
  let number = 0;
  const next = () => String(++number);
  const createInbox = () =>
    app.call(inboxes.create_inbox, { name: "one", phone_number: `+1415555012${next()}` });
  const createReply = () =>
    app.call(quickReplies.create_quick_reply, { short_code: next(), content: "Hello" });
  const createTemplate = () => createTemplateHelpers(app).create({ name: `template_${next()}` });
  const createCohort = () => app.call(cohorts.create_cohort, { name: next(), query: {} });
  const createPolicy = () =>
    app.call(routing.create_routing_policy, {
      name: next(),
      strategy: "round_robin",
      target_type: "team",
    });
  const createFlow = () =>
    app.call(flows.create_flow, {
      name: next(),
      trigger_type: "keyword",
      trigger_keyword: "hi",
      end_action_type: "none",
      nodes: [{ id: "one", node_type: "send_message", action_config: { text: "Hello" } }],
    });
  const rejected = (limit: number, setting: string) => ({
    succeeded: 2,
    failure: { status: 422, code: "quota_exceeded", error: { limit, setting } },
  });
  // One of the three is the first inbox.
  expect(await callAtOnce(createInbox)).toMatchObject(rejected(3, "TIDINGS_QUOTA_INBOXES"));
  expect(await callAtOnce(createReply)).toMatchObject(rejected(2, "TIDINGS_QUOTA_QUICK_REPLIES"));
  expect(await callAtOnce(createTemplate)).toMatchObject(rejected(2, "TIDINGS_QUOTA_TEMPLATES"));
  expect(await callAtOnce(createCohort)).toMatchObject(rejected(2, "TIDINGS_QUOTA_COHORTS"));
  expect(await callAtOnce(createFlow)).toMatchObject(rejected(2, "TIDINGS_QUOTA_FLOWS"));
  expect(await callAtOnce(createPolicy)).toMatchObject(rejected(2, "TIDINGS_QUOTA_ROUTING_POLICIES"));
});

test("team members", async () => {
  const { id, users } = await createTeamWithMembers(app, { name: "One" }, { Ada: {}, Bea: {} });
  const { id: second } = await createTeamWithMembers(app, { name: "Two" }, {});
  const member = { id: second, user_id: users.Ada ?? "", role: "member" } as const;
  expect(await expectFailure(app.call(teams.add_team_member, member))).toMatchObject({
    status: 422,
    code: "quota_exceeded",
    error: { limit: 2, setting: "TIDINGS_QUOTA_TEAM_MEMBERS" },
  });
  await app.call(teams.delete_team, { id });
  expect((await app.call(teams.add_team_member, member)).data.user_id).toBe(users.Ada);
});

test("stored bytes: a file that no longer fits is rejected, and one that fits after a deletion is stored", async () => {
  const upload = (bytes: number) => {
    const content_base64 = Buffer.from(`phone\n${"1".repeat(bytes - 6)}`).toString("base64");
    return app.call(uploads.upload_file, { file_name: "people.csv", content_base64 });
  };
  const { data } = await upload(700_000);
  expect(await expectFailure(upload(400_000))).toMatchObject({ status: 422, code: "quota_exceeded" });
  await upload(300_000);
  expect(await expectFailure(upload(10))).toMatchObject({ code: "quota_exceeded" });
  await app.call(uploads.delete_upload, { id: data.id });
  expect((await upload(400_000)).data.file_size).toBe(400_000);
});

test("imports that wait or run", async () => {
  // The files of the first organization are counted by another test.
  const { key, upload_id } = await createOtherTenant(app);
  await app.runDueJobs();
  const start = () => app.call(imports.import_contacts, { upload_id }, { key });
  expect(await callAtOnce(start)).toMatchObject({ succeeded: 2, failure: { code: "quota_exceeded" } });
  await app.runDueJobs();
  expect((await start()).data.status).toBe("queued");
});

test("waiting calls", async () => {
  const stop = new AbortController();
  const wait = () => app.call(messages.wait_for_message, { timeout_seconds: 20 }, { signal: stop.signal });
  const outcomes = [1, 2, 3].map(() =>
    wait().then(
      () => "answered",
      ({ status }) => status ?? "aborted",
    ),
  );
  expect(await Promise.race(outcomes)).toBe(429);
  stop.abort();
  expect((await Promise.all(outcomes)).sort()).toEqual([429, "aborted", "aborted"]);
});
