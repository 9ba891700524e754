/** Lists of the review authority that are stale, repeat themselves or have parts that no message can have. */
import { beforeEach, expect, test } from "vitest";
import type { ReviewedTemplate } from "../src/ports/channel/template-authority.ts";
import { inboxes } from "../tools/inboxes.ts";
import { templates } from "../tools/templates/index.ts";
import { startTestApp, useTestApp } from "./support/app.ts";
import { expectFailure } from "./support/expect-failure.ts";
import { createReplaceableAuthority, createTemplateHelpers } from "./support/templates.ts";

const authority = createReplaceableAuthority();
const app = useTestApp({ replaceAuthority: authority.replaceAuthority });
const { approve, send } = createTemplateHelpers(app);

beforeEach(() => {
  authority.replace();
});

const get = async (id: string) => (await app.call(templates.get_template, { id })).data;
const sync = async () => (await app.call(templates.sync_templates, {})).data;

async function readInbox() {
  const { data } = await app.call(inboxes.list_inboxes, {});
  const { organization_id = "", id = "", phone_number = "" } = data[0] ?? {};
  return { organization_id, id, phone_number };
}

/** The authority lists these templates, on one page. */
function list(...listed: readonly ReviewedTemplate[]) {
  authority.replace({ list: async () => ({ templates: listed, next: null }) });
}

function reviewed(fields: Partial<ReviewedTemplate>): ReviewedTemplate {
  return {
    external_id: "1",
    name: "theirs",
    language: "en",
    raw_status: "APPROVED",
    category: "utility",
    rejection_reason: null,
    quality_rating: "GREEN",
    version: { category: "utility", template_data: { body: "Hello." }, variables: [] },
    ...fields,
  };
}

test("a template that is deleted while a sync reads the list is not added again", async () => {
  const { id, name } = await approve({ name: "deleted" });
  authority.replace({
    async list(...args) {
      const page = await authority.simulated.list(...args);
      await app.call(templates.delete_template, { id });
      return page;
    },
  });
  await sync();
  expect((await app.call(templates.list_templates, { search: name })).data).toEqual([]);
});

test("a template that the authority lists twice is applied once", async () => {
  const { id, name } = await approve({ name: "twice" });
  // After this sync only the quality is new.
  list(reviewed({ name }));
  await sync();
  const twice = [reviewed({ name, quality_rating: "RED" }), reviewed({ name, quality_rating: "GREEN" })];
  authority.replace({
    list: async ({ cursor }) => ({ templates: twice, next: cursor === null ? "2" : null }),
  });
  expect(await sync()).toMatchObject({ synced: 1, updated: 1 });
  expect(await get(id)).toMatchObject({ quality_rating: "RED" });
  expect(await sync()).toMatchObject({ synced: 1, updated: 0 });
});

test("a sync of a list that repeats its pages without end fails", async () => {
  authority.replace({ list: async () => ({ templates: [], next: "same" }) });
  expect(await expectFailure(sync())).toMatchObject({ status: 503, code: "authority_unavailable" });
});

test("a draft is not sent because the authority approved another content under its name", async () => {
  const input = {
    name: "carousel",
    category: "utility",
    template_data: { body: "Not reviewed." },
  } as const;
  const { data } = await app.call(templates.create_template, input);
  list(reviewed({ name: "carousel", version: null }));
  await sync();
  expect(await get(data.id)).toMatchObject({ status: "draft", is_sendable: false });
  const failure = await expectFailure(send("+14155550120", { name: "carousel" }));
  expect(failure).toMatchObject({ status: 422, code: "template_not_approved" });
});

test("a template that breaks a limit of this service is not added", async () => {
  const button = { type: "quick_reply", text: "Yes" } as const;
  const template_data = { body: "Hello.", buttons: Array.from({ length: 11 }, () => button) };
  list(reviewed({ name: "buttons", version: { category: "utility", template_data, variables: [] } }));
  expect(await sync()).toMatchObject({
    synced: 0,
    skipped: [{ name: "buttons", language: "en", reason: "limit" }],
  });
  expect((await app.call(templates.list_templates, { search: "buttons" })).data).toEqual([]);
});

test("a media header without a sample requires a file", async () => {
  const template_data = { body: "Look.", header: { type: "image" as const } };
  list(reviewed({ name: "no_sample", version: { category: "utility", template_data, variables: [] } }));
  await sync();
  const failure = await expectFailure(send("+14155550120", { name: "no_sample" }));
  expect(failure).toMatchObject({ status: 422, code: "template_values_mismatch" });
  expect(failure.message).toContain("send header_media_url");
  const header_media_url = "https://example.com/a.png";
  expect((await send("+14155550120", { name: "no_sample", header_media_url })).data.status).toBe("queued");
});

test("a template that can't be read is skipped, and no other one is taken for missing", async () => {
  const { id, name } = await approve({ name: "readable" });
  const odd = [
    { name: null as never },
    { name: "with spaces in it" },
    { category: "news" as never },
    { language: "" },
    { external_id: "" },
  ];
  list(
    ...odd.map((fields) => reviewed(fields)),
    reviewed({ name, raw_status: "REJECTED", rejection_reason: "Too\u0000 short\n" }),
  );
  expect(await sync()).toEqual({ synced: 1, updated: 1, statuses: { rejected: 1 }, skipped: [] });
  expect(await get(id)).toMatchObject({ status: "rejected", rejection_reason: "Too  short" });
  list(reviewed({ name: null as never }));
  await sync();
  expect(await get(id)).toMatchObject({ missing_at_authority: false });
});

test("a language with a hyphen is the one with an underscore", async () => {
  list(reviewed({ name: "hyphen", language: "en-US" }));
  await sync();
  const { data } = await app.call(templates.list_templates, { search: "hyphen" });
  expect(data).toMatchObject([{ language: "en_US", status: "approved", is_sendable: true }]);
});

test("an inbox whose authority fails does not keep the others from their sync", async () => {
  const authority = createReplaceableAuthority();
  await using app = await startTestApp({ replaceAuthority: authority.replaceAuthority });
  const { data: second } = await app.call(inboxes.create_inbox, {
    name: "Two",
    phone_number: "+14155550179",
  });
  authority.replace({
    list: async ({ inbox }) =>
      inbox.id === second.id
        ? { templates: [reviewed({ name: "of_second" })], next: null }
        : Promise.reject(new Error("down")),
  });
  const failure = await expectFailure(app.call(templates.sync_templates, {}));
  expect(failure).toMatchObject({ status: 503, code: "authority_unavailable" });
  const { data } = await app.call(templates.list_templates, { search: "of_second" });
  expect(data).toMatchObject([{ inbox_id: second.id, status: "approved" }]);
});

test("a template that vanished at the authority is created there again by its next submission", async () => {
  const { id, name, external_id } = await approve({ name: "vanished" });
  const inbox = await readInbox();
  const { signal } = new AbortController();
  await authority.simulated.delete({ inbox, external_id: external_id ?? "", name }, signal);
  await sync();
  expect(await get(id)).toMatchObject({ missing_at_authority: true, is_sendable: false });
  await app.call(templates.update_template, { id, template_data: { body: "Hello." } });
  await app.call(templates.submit_template, { id });
  await app.advanceTime(1_000);
  const after = await get(id);
  expect(after).toMatchObject({ status: "approved", missing_at_authority: false, is_sendable: true });
  expect(after.external_id).not.toBe(external_id);
});
