/**
 * The review of templates: submission, decision, change, pause and deletion, with the simulated authority.
 */
import { expect, test } from "vitest";
import { templates } from "../tools/templates/index.ts";
import { useTestApp } from "./support/app.ts";
import { expectFailure } from "./support/expect-failure.ts";
import { setReview } from "./support/templates.ts";

const app = useTestApp();

type Input = Parameters<typeof app.call<typeof templates.create_template>>[1];
const body = "Hello.";
let created = 0;

const create = async (changes: Partial<Input> = {}) => {
  created += 1;
  const input = { name: `greeting_${created}`, category: "utility" as const, template_data: { body } };
  return (await app.call(templates.create_template, { ...input, ...changes })).data;
};

const get = async (id: string) => (await app.call(templates.get_template, { id })).data;
const submit = (id: string) => app.call(templates.submit_template, { id });
const review = (settings: object) => setReview(app, settings);

/** A template after its review; the simulated authority decides after a second. */
async function createReviewed(outcome: "approve" | "reject" | "hold", changes?: Partial<Input>) {
  await review({ outcome, reason: "INVALID_FORMAT" });
  const template = await create(changes);
  await submit(template.id);
  await app.advanceTime(1_000);
  await review({});
  return get(template.id);
}

test("a submitted draft is pending, and approved by itself", async () => {
  const template = await create();
  const { data } = await submit(template.id);
  expect(data).toEqual({
    id: template.id,
    name: template.name,
    status: "pending",
    external_id: expect.stringMatching(/^\d+$/),
    warnings: template.warnings,
    updated_at: app.now().toISOString(),
  });
  expect(await expectFailure(submit(template.id))).toMatchObject({
    status: 409,
    code: "template_not_draft",
    error: { current_state: "pending" },
  });
  const edit = app.call(templates.update_template, { id: template.id, template_data: { body } });
  expect(await expectFailure(edit)).toMatchObject({
    status: 409,
    code: "template_not_editable",
    error: { current_state: "pending" },
  });
  await app.advanceTime(1_000);
  expect(await get(template.id)).toMatchObject({
    status: "approved",
    is_sendable: true,
    raw_status: "APPROVED",
    quality_rating: "GREEN",
    external_id: data.external_id,
  });
});

test("a rejected template says why, and is a draft again once it is changed", async () => {
  const rejected = await createReviewed("reject");
  expect(rejected).toMatchObject({
    status: "rejected",
    is_sendable: false,
    raw_status: "REJECTED",
    rejection_reason: "INVALID_FORMAT",
  });
  const { id } = rejected;
  const { data: draft } = await app.call(templates.update_template, { id, category: "marketing" });
  expect(draft).toMatchObject({ status: "draft", category: "marketing", rejection_reason: "INVALID_FORMAT" });
  const { data: pending } = await submit(id);
  expect(pending).toMatchObject({ status: "pending", external_id: rejected.external_id });
  await app.advanceTime(1_000);
  expect(await get(id)).toMatchObject({ status: "approved", category: "marketing", rejection_reason: null });
});

test("an approved template keeps its version until the change is approved, and its category", async () => {
  const { id } = await createReviewed("approve");
  const update = (changes: object) => app.call(templates.update_template, { id, ...changes });
  expect(await expectFailure(update({ category: "marketing" }))).toMatchObject({
    status: 422,
    code: "template_category_fixed",
    error: { category: "utility", param: "category" },
  });
  const { data: draft } = await update({ template_data: { body: "Hello, your order has arrived." } });
  expect(draft).toMatchObject({ status: "draft", is_sendable: true, raw_status: "APPROVED" });
  await submit(id);
  expect(await get(id)).toMatchObject({ status: "pending", is_sendable: false });
  await app.advanceTime(1_000);
  expect(await get(id)).toMatchObject({ status: "approved", is_sendable: true });
  await update({ template_data: { body: "Hello, your order is here." } });
  const failure = await expectFailure(submit(id));
  expect(failure).toMatchObject({ status: 422, code: "template_edit_limit" });
  const allowedAt = new Date(String(failure.error?.allowed_at));
  await app.advanceTime(allowedAt.getTime() - app.now().getTime());
  expect((await submit(id)).data.status).toBe("pending");
});

test("a paused template can't be sent or changed, and comes back by itself", async () => {
  const { id, name } = await createReviewed("approve");
  await review({ name, outcome: "pause" });
  await app.runDueJobs();
  expect(await get(id)).toMatchObject({ status: "paused", is_sendable: false });
  const edit = app.call(templates.update_template, { id, template_data: { body } });
  expect(await expectFailure(edit)).toMatchObject({ status: 409, error: { current_state: "paused" } });
  await app.advanceTime(3 * 3_600_000);
  expect(await get(id)).toMatchObject({ status: "approved", is_sendable: true });
  await review({ name, outcome: "disable", quality: "RED" });
  await app.runDueJobs();
  expect(await get(id)).toMatchObject({ status: "disabled", quality_rating: "RED", is_sendable: false });
});

test("a deleted template is deleted at the authority too", async () => {
  const approved = await createReviewed("approve");
  const draft = await create();
  for (const { id } of [approved, draft]) {
    expect(await app.call(templates.delete_template, { id })).toEqual({ data: { id, deleted: true } });
    const again = await expectFailure(app.call(templates.delete_template, { id }));
    expect(again).toMatchObject({ status: 404, code: "template_not_found" });
  }
  const { data } = await app.call(templates.sync_templates, {});
  expect(data.updated).toBe(0);
  const { data: found } = await app.call(templates.list_templates, { search: approved.name });
  expect(found).toEqual([]);
});

test("a template that the authority does not delete stays", async () => {
  const { id, name } = await createReviewed("approve");
  await review({ name, outcome: "disable" });
  const failure = await expectFailure(app.call(templates.delete_template, { id }));
  expect(failure).toMatchObject({ status: 422, code: "template_refused" });
  expect(failure.message).toContain("disabled template can't be deleted");
  expect((await get(id)).id).toBe(id);
});
