/** A broadcast whose template is paused, changed or withdrawn, or whose file is deleted: how it ends. */
import { beforeEach, expect, test } from "vitest";
import { broadcasts } from "../tools/broadcasts/index.ts";
import { templates } from "../tools/templates/index.ts";
import { uploads } from "../tools/uploads.ts";
import { useTestApp } from "./support/app.ts";
import { createBroadcastHelpers, phoneNumbers } from "./support/broadcasts.ts";
import { expectFailure } from "./support/expect-failure.ts";
import { png } from "./support/files.ts";
import { setFaults } from "./support/simulator.ts";
import { createUploadHelpers } from "./support/uploads.ts";

const app = useTestApp();
const { approve, create, createCohort, deliver, execute, get } = createBroadcastHelpers(app);
let areas = 430;

beforeEach(() => setFaults(app, {}));

/** A new broadcast of a new template to two new contacts. */
async function createNew() {
  const { cohort } = await createCohort(phoneNumbers(2, ++areas));
  const { id: template_id } = await approve({
    name: `news_${areas}`,
    template_data: { body: "We have news for you." },
  });
  return create({ name: "News", cohort_id: cohort.id, template_id });
}

const setReviewStatus = (id: string, review_status: "approved" | "paused") =>
  app.server.database.queries.updateTable("templates").set({ review_status }).where("id", "=", id).execute();

test("a template that the authority has paused can't be deleted or submitted under a paused broadcast", async () => {
  const { id, template_id } = await createNew();
  await execute(id);
  await app.call(broadcasts.pause_broadcast, { id });
  await setReviewStatus(template_id, "paused");
  const deletion = await expectFailure(app.call(templates.delete_template, { id: template_id }));
  expect(deletion).toMatchObject({ status: 409, code: "template_in_use" });
  await app.call(templates.update_template, { id: template_id, template_data: { body: "Other news." } });
  const submission = await expectFailure(app.call(templates.submit_template, { id: template_id }));
  expect(submission).toMatchObject({ status: 409, code: "template_in_use" });
});

test("a broadcast that has sent everything completes although its template can't be sent", async () => {
  const { id, template_id } = await createNew();
  await execute(id);
  await deliver();
  // Paused after its last message was sent, and resumed.
  const { queries } = app.server.database;
  await queries.updateTable("broadcasts").set({ execution_status: "paused" }).where("id", "=", id).execute();
  await setReviewStatus(template_id, "paused");
  await app.call(broadcasts.resume_broadcast, { id });
  await deliver();
  expect(await get(id)).toMatchObject({ execution_status: "completed", stats: { sent: 2 } });
});

test("a retry after a change of the template is refused, and a dispatch with other texts pauses", async () => {
  await setFaults(app, { failures: [{ code: 131016, share: 1 }] });
  const { id, template_id } = await createNew();
  await execute(id);
  await deliver();
  await setFaults(app, {});
  await app.call(templates.update_template, { id: template_id, template_data: { body: "Other news." } });
  await app.call(templates.submit_template, { id: template_id });
  await app.advanceTime(1_000);
  const retry = await expectFailure(app.call(broadcasts.retry_broadcast, { id }));
  expect(retry).toMatchObject({ status: 409, code: "broadcast_outdated" });
  expect(await get(id)).toMatchObject({ execution_status: "completed", stats: { failed: 2 } });

  const { queries } = app.server.database;
  const other = await createNew();
  await execute(other.id);
  const { submitted } = await queries
    .selectFrom("templates")
    .select("submitted")
    .where("id", "=", template_id)
    .executeTakeFirstOrThrow();
  await queries
    .updateTable("templates")
    .set({ submitted: JSON.stringify(submitted) })
    .where("id", "=", other.template_id)
    .execute();
  await deliver();
  expect(await get(other.id)).toMatchObject({
    execution_status: "paused",
    paused_reason: "template_not_sendable",
    stats: { sent: 0 },
  });
});

test("a broadcast whose header file is deleted pauses with the reason, and can be cancelled", async () => {
  const file = await createUploadHelpers(app).upload({ name: "logo.png", bytes: png });
  const { cohort } = await createCohort(phoneNumbers(2, ++areas));
  const header = { type: "image" as const, media_url: file.storage_url };
  const { id: template_id } = await approve({
    name: `news_${areas}`,
    template_data: { body: "Look at this.", header },
  });
  const { id } = await create({
    name: "News",
    cohort_id: cohort.id,
    template_id,
    header_media_url: file.storage_url,
  });
  await execute(id);
  await app.call(uploads.delete_upload, { id: file.id });
  await deliver();
  expect(await get(id)).toMatchObject({
    execution_status: "paused",
    paused_reason: "file_missing",
    stats: { sent: 0 },
  });
  await app.call(broadcasts.cancel_broadcast, { id });
  expect(await get(id)).toMatchObject({ execution_status: "cancelled", excluded: { cancelled: 2 } });
});
