/**
 * An authority that is slow, fails or loses answers, and calls at the same time: nothing
 * is lost or done twice.
 */
import { beforeEach, expect, test } from "vitest";
import type { ReviewedTemplate } from "../src/ports/channel/template-authority.ts";
import { inboxes } from "../tools/inboxes.ts";
import { messages } from "../tools/messages/index.ts";
import { templates } from "../tools/templates/index.ts";
import { useTestApp } from "./support/app.ts";
import { expectFailure } from "./support/expect-failure.ts";
import { meanwhile } from "./support/meanwhile.ts";
import { createReplaceableAuthority, setReview } from "./support/templates.ts";

const authority = createReplaceableAuthority();
const app = useTestApp({ replaceAuthority: authority.replaceAuthority });

beforeEach(async () => {
  authority.replace();
  await review({});
});

const body = "Hello.";
const { signal } = new AbortController();
let created = 0;

const create = async () => {
  created += 1;
  const input = { name: `race_${created}`, category: "utility" as const, template_data: { body } };
  return (await app.call(templates.create_template, input)).data;
};

const get = async (id: string) => (await app.call(templates.get_template, { id })).data;
const submit = (id: string) => app.call(templates.submit_template, { id });
const sync = async () => (await app.call(templates.sync_templates, {})).data;
const review = (settings: object) => setReview(app, settings);

const inbox = async () => {
  const { data } = await app.call(inboxes.list_inboxes, {});
  const { organization_id = "", id = "", phone_number = "" } = data[0] ?? {};
  return { organization_id, id, phone_number };
};

/** The templates of these names at the authority. */
async function listAtAuthority(name: string): Promise<readonly ReviewedTemplate[]> {
  const { templates: found } = await authority.simulated.list(
    { inbox: await inbox(), name, cursor: null },
    signal,
  );
  return found;
}

const fiveMinutes = 5 * 60_000;

test("a notice that arrives before the answer to the submission is applied", async () => {
  await review({ delay_ms: 0 });
  authority.replace({
    async submit(...args) {
      const result = await authority.simulated.submit(...args);
      await app.runDueJobs();
      return result;
    },
  });
  const { id } = await create();
  expect((await submit(id)).data.status).toBe("pending");
  await app.advanceTime(5_000);
  expect(await get(id)).toMatchObject({ status: "approved", is_sendable: true });
});

test("a submission whose answer is lost is found at the authority", async () => {
  await review({ lost_answers: true });
  const { id, name } = await create();
  const { data } = await submit(id);
  expect(data).toMatchObject({
    status: "pending",
    external_id: (await listAtAuthority(name))[0]?.external_id,
  });
});

test("a submission that can't be looked up either is found by a later sync", async () => {
  await review({ lost_answers: true });
  const { id, name } = await create();
  authority.replace({ list: async () => Promise.reject(new Error("down")) });
  expect(await expectFailure(submit(id))).toMatchObject({ status: 409, code: "outcome_unknown" });
  expect(await get(id)).toMatchObject({ status: "pending", external_id: null });
  expect(await expectFailure(submit(id))).toMatchObject({ code: "template_not_draft" });
  expect(await expectFailure(app.call(templates.delete_template, { id }))).toMatchObject({ status: 409 });
  authority.replace();
  await app.advanceTime(fiveMinutes);
  expect(await get(id)).toMatchObject({ status: "approved" });
  expect(await listAtAuthority(name)).toHaveLength(1);
});

test("a submission that never arrived is a draft again after a sync", async () => {
  const { id, name } = await create();
  authority.replace({ submit: async () => Promise.reject(new Error("timed out")) });
  expect(await expectFailure(submit(id))).toMatchObject({ code: "outcome_unknown" });
  authority.replace();
  // The submission may still arrive, so a sync at once does not end it.
  await sync();
  expect((await get(id)).status).toBe("pending");
  await app.advanceTime(fiveMinutes);
  expect(await get(id)).toMatchObject({ status: "draft", external_id: null });
  expect((await submit(id)).data.status).toBe("pending");
  expect(await listAtAuthority(name)).toHaveLength(1);
});

test("a busy authority changes nothing, and the submission can be repeated", async () => {
  await review({ busy: true });
  const { id } = await create();
  const failure = await expectFailure(submit(id));
  expect(failure).toMatchObject({ status: 503, code: "authority_unavailable" });
  expect((await get(id)).status).toBe("draft");
  await review({});
  expect((await submit(id)).data.status).toBe("pending");
});

test("a submission that the authority rejects at once is a draft again", async () => {
  const { id, name } = await create();
  const version = { category: "utility" as const, template_data: { body }, variables: [] };
  const template = { inbox: await inbox(), name, language: "en", external_id: null, ...version };
  await authority.simulated.submit(template, signal);
  const failure = await expectFailure(submit(id));
  expect(failure).toMatchObject({ status: 422, code: "template_refused" });
  expect(await get(id)).toMatchObject({ status: "draft", external_id: null });
});

test("of two submissions at once, one is made", async () => {
  const { id, name } = await create();
  let calls = 0;
  authority.replace({
    submit(...args) {
      calls += 1;
      return authority.simulated.submit(...args);
    },
  });
  const outcomes = await Promise.allSettled([submit(id), submit(id), submit(id)]);
  expect(outcomes.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
  expect(calls).toBe(1);
  expect(await listAtAuthority(name)).toHaveLength(1);
});

test("a submission whose process died is found, and its answer is that of the repeated request", async () => {
  const { id, name } = await create();
  let resolve = () => {};
  const released = new Promise<void>((settle) => {
    resolve = settle;
  });
  authority.replace({
    async submit(...args) {
      const result = await authority.simulated.submit(...args);
      await released;
      return result;
    },
  });
  const request = () =>
    app.fetch(`/v1/templates/${id}/submit`, { method: "POST", headers: { "idempotency-key": "once" } });
  await meanwhile(request(), async () => {
    await expect.poll(() => listAtAuthority(name)).toHaveLength(1);
    expect((await request()).status).toBe(409);
    await app.server.database.queries
      .updateTable("outward_calls")
      .set({ running_until: new Date(app.now().getTime() - 1).toISOString() })
      .execute();
    expect(await (await request()).json()).toMatchObject({ data: { status: "pending" } });
    resolve();
  });
  expect(await listAtAuthority(name)).toHaveLength(1);
  expect((await get(id)).status).toBe("pending");
});

test("two syncs at once apply a decision once", async () => {
  await review({ notices: false });
  const { id } = await create();
  await submit(id);
  await app.advanceTime(1_000);
  const outcomes = await Promise.all([sync(), sync(), sync()]);
  expect(outcomes.reduce((sum, { updated }) => sum + updated, 0)).toBe(1);
  expect((await get(id)).status).toBe("approved");
  expect(await sync()).toMatchObject({ updated: 0 });
});

test("a template that vanished at the authority is marked and kept, and works again once it is back", async () => {
  const { id, name } = await create();
  await submit(id);
  await app.advanceTime(1_000);
  authority.replace({ list: async () => ({ templates: [], next: null }) });
  await sync();
  expect(await get(id)).toMatchObject({ status: "approved", missing_at_authority: true, is_sendable: false });
  const send = () =>
    app.call(messages.send_message, {
      to: "+14155550101",
      type: "template",
      template: { name, language: "en" },
    });
  const failure = await expectFailure(send());
  expect(failure).toMatchObject({ status: 422, code: "template_not_approved" });
  expect(failure.message).toContain("the review authority no longer has it");
  authority.replace();
  await sync();
  expect(await get(id)).toMatchObject({ missing_at_authority: false, is_sendable: true });
  expect((await send()).data.status).toBe("queued");
});

test("a word of the authority that is not known is kept, and changes nothing", async () => {
  const { id } = await create();
  await submit(id);
  await app.advanceTime(1_000);
  authority.replace({
    async list(...args) {
      const page = await authority.simulated.list(...args);
      return { ...page, templates: page.templates.map((one) => ({ ...one, raw_status: "UNDER_SPELL" })) };
    },
  });
  await sync();
  expect(await get(id)).toMatchObject({ status: "approved", raw_status: "UNDER_SPELL", is_sendable: true });
});

test("an approved template is not submitted or deleted while messages wait for it", async () => {
  const { id, name } = await create();
  await submit(id);
  await app.advanceTime(1_000);
  const template = { name, language: "en" };
  await app.call(messages.send_message, { to: "+14155550102", type: "template", template });
  await app.call(templates.update_template, { id, template_data: { body: "Hello again." } });
  for (const call of [() => submit(id), () => app.call(templates.delete_template, { id })]) {
    expect(await expectFailure(call())).toMatchObject({
      status: 409,
      code: "template_in_use",
      error: { count: 1 },
    });
  }
  await app.runDueJobs();
  expect((await submit(id)).data.status).toBe("pending");
});

test("a deletion whose answer is lost is not called without effect, and can be repeated", async () => {
  const { id, name } = await create();
  await submit(id);
  await app.advanceTime(1_000);
  authority.replace({
    async delete(...args) {
      await authority.simulated.delete(...args);
      throw new Error("timed out");
    },
  });
  const remove = () => app.call(templates.delete_template, { id });
  expect(await expectFailure(remove())).toMatchObject({ status: 409, code: "outcome_unknown" });
  expect(await listAtAuthority(name)).toEqual([]);
  authority.replace();
  expect(await remove()).toEqual({ data: { id, deleted: true } });
});

test("a message whose template is no longer approved when it is sent fails, and says why", async () => {
  const failed = async (outcome: string) => {
    const { id, name } = await create();
    await submit(id);
    await app.advanceTime(1_000);
    const template = { name, language: "en" };
    const { data } = await app.call(messages.send_message, {
      to: "+14155550103",
      type: "template",
      template,
    });
    await review({ name, outcome });
    await app.advanceTime(1_000);
    const { conversation_id, id: message_id } = data;
    return (await app.call(messages.get_message, { conversation_id, message_id })).data;
  };
  expect(await failed("pause")).toMatchObject({ status: "failed", error: { code: "template_paused" } });
  expect(await failed("disable")).toMatchObject({ status: "failed", error: { code: "template_disabled" } });
  expect(await failed("reject")).toMatchObject({ status: "failed", error: { code: "template_missing" } });
});

// The last one, because each later sync would read these templates too.
test("250 templates of the authority are added once, although a page fails", async () => {
  const version = { category: "utility" as const, template_data: { body }, variables: [] };
  const shared = { inbox: await inbox(), language: "en", external_id: null };
  for (let number = 0; number < 250; number += 1) {
    const template = { ...shared, name: `theirs_${number}` };
    await authority.simulated.submit({ ...template, ...version }, signal);
  }
  let pages = 0;
  authority.replace({
    async list(...args) {
      pages += 1;
      return pages === 3 ? Promise.reject(new Error("down")) : authority.simulated.list(...args);
    },
  });
  const failure = await expectFailure(sync());
  expect(failure).toMatchObject({ status: 503, code: "authority_unavailable" });
  authority.replace();
  const [one, two] = await Promise.all([sync(), sync()]);
  const list = await app.call(templates.list_templates, { search: "theirs_" });
  expect(list.meta.total).toBe(250);
  const { total } = (await app.call(templates.list_templates, {})).meta;
  expect([one.synced, two.synced]).toEqual([total, total]);
  expect(await sync()).toMatchObject({ updated: 0 });
});
