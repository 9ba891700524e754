/** Plans keep the files at other addresses: what was there when the call was planned is what is sent. */
import { createHash } from "node:crypto";
import { sql } from "kysely";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { plans } from "../tools/plans.ts";
import { uploads } from "../tools/uploads.ts";
import { startTestApp, useTestApp } from "./support/app.ts";
import { createApprovalHelpers } from "./support/approvals.ts";
import { connectAssistant } from "./support/assistant.ts";
import { createBroadcastHelpers, phoneNumbers } from "./support/broadcasts.ts";
import { expectFailure } from "./support/expect-failure.ts";
import { executable, gif, jpeg, png } from "./support/files.ts";
import { createPlanHelpers } from "./support/plans.ts";
import { type Receiver, startReceiver } from "./support/receiver.ts";
import { openPhone } from "./support/simulator.ts";
import { trustedProxyEnv } from "./support/users.ts";

const app = useTestApp({ env: { ...trustedProxyEnv, TIDINGS_ALLOW_LOCAL_SOURCES: "true" } });
const { deliver, plan, planBroadcast, read, run, runAtOnce } = createPlanHelpers(app);

let source: Receiver;
let answer: readonly [status: number, type: string, body: Buffer];
beforeAll(async () => {
  source = await startReceiver((_, response) => {
    const [status, type, body] = answer;
    response.writeHead(status, { "content-type": type }).end(body);
  });
});
beforeEach(() => {
  answer = [200, "image/png", png];
});
afterAll(() => source[Symbol.asyncDispose]());

const address = (name: string) => `http://127.0.0.1:${source.port}/${name}`;

const planImage = (to: string, name = "menu.png") =>
  plan({
    operation: "send_message",
    input: { to, type: "image", media_url: address(name), caption: "Today" },
  });

const hash = (file: Buffer) => createHash("sha256").update(file).digest("hex");

/** The hashes of the files that were sent to a number, and what became of the messages. */
async function filesAt(number: string) {
  const { rows } = await sql<{ file: string; status: string }>`
    select uploads.sha256 as file, messages.status
    from messages join conversations
      on conversations.organization_id = messages.organization_id and conversations.id = messages.conversation_id
    join contacts on contacts.organization_id = conversations.organization_id and contacts.id = conversations.contact_id
    left join uploads on uploads.organization_id = messages.organization_id
      and uploads.key = coalesce(content #>> '{media,upload}', content #>> '{template,header,media,upload}')
    where contacts.phone_number = ${number} and direction = 'outbound'
    order by messages.id
  `.execute(app.server.database.queries);
  return rows;
}

/** The stored files of the organization. */
const listFiles = async () =>
  (await app.call(uploads.list_uploads, {})).data.map(({ file_name }) => file_name);

test("a file that is exchanged after planning is sent as it was", { tags: "both" }, async () => {
  const number = "+14155553001";
  const before = source.requests;
  const made = await planImage(number);
  expect(made).toMatchObject({
    status: "preparing",
    progress: { prepared: 0, total: 1 },
    samples: [{ to: number, text: "Today\n[file]" }],
  });
  expect(await expectFailure(runAtOnce(made.id))).toMatchObject({ code: "plan_preparing" });
  await app.runDueJobs();
  expect(await read(made.id)).toMatchObject({ status: "ready", recipient_count: 1, progress: null });
  expect(source.requests).toBe(before + 1);
  answer = [200, "image/jpeg", jpeg];
  expect((await run(made.id)).result).toMatchObject({
    data: { to: number, type: "image", status: "queued" },
  });
  await deliver();
  expect(source.requests).toBe(before + 1);
  expect(await filesAt(number)).toEqual([{ file: hash(png), status: "delivered" }]);
});

test("the header of a broadcast is sent as it was", { tags: "both" }, async () => {
  const numbers = phoneNumbers(2, 621);
  const { approve, create, createCohort, get } = createBroadcastHelpers(app);
  const { cohort } = await createCohort(numbers, { name: "Ann" });
  const template = await approve({
    name: "pictured",
    template_data: { header: { type: "image", media_url: address("sample.png") }, body: "Hello {{1}}." },
  });
  const header_media_url = address("offer.png");
  const { id } = await create({
    name: "Pictured",
    cohort_id: cohort.id,
    template_id: template.id,
    variable_mapping: { "1": "name" },
    header_media_url,
  });
  const made = await planBroadcast(id);
  expect(made).toMatchObject({ status: "preparing", recipient_count: 2 });
  await app.runDueJobs();
  expect(await read(made.id)).toMatchObject({ status: "ready", recipient_count: 2 });
  const { requests } = source;
  answer = [200, "image/jpeg", jpeg];
  await run(made.id);
  await deliver();
  expect(source.requests).toBe(requests);
  for (const number of numbers) {
    expect(await filesAt(number)).toEqual([{ file: hash(png), status: "delivered" }]);
  }
  expect((await get(id)).header_media_url).toContain("/files/org_");
});

test.each([
  ["is gone", [404, "text/plain", png], "source_failed"],
  ["is a program", [200, "image/png", executable], "file_type_mismatch"],
  ["is a picture that the channel does not send", [200, "image/gif", gif], "media_not_sendable"],
] as const)("a plan whose file %s fails with the reason, and sends nothing", async (_, file, code) => {
  const number = "+14155553002";
  answer = file;
  const before = await listFiles();
  const made = await planImage(number, code === "media_not_sendable" ? "menu.gif" : "menu.png");
  await app.runDueJobs();
  expect(await read(made.id)).toMatchObject({ status: "failed", error: { code } });
  expect(await expectFailure(run(made.id))).toMatchObject({ code });
  await deliver();
  expect(await openPhone(app, number).listMessages()).toEqual([]);
  expect(await listFiles()).toEqual(before);
});

test("an address of this machine is not fetched without the setting", async () => {
  const guarded = await startTestApp();
  await using _ = guarded;
  const helpers = createPlanHelpers(guarded);
  const input = { to: "+14155553003", type: "image", media_url: `https://127.0.0.1:${source.port}/menu.png` };
  const { id } = await helpers.plan({ operation: "send_message", input });
  const { requests } = source;
  await guarded.runDueJobs();
  expect(await helpers.read(id)).toMatchObject({ status: "failed", error: { code: "url_not_allowed" } });
  expect(source.requests).toBe(requests);
});

test("the file of a plan that ends without a run is deleted", async () => {
  const before = await listFiles();
  const withdrawn = await planImage("+14155553004", "withdrawn.png");
  const late = await planImage("+14155553004", "late.png");
  await app.runDueJobs();
  expect(await listFiles()).toHaveLength(before.length + 2);
  await app.call(plans.withdraw_plan, { id: withdrawn.id });
  expect(await listFiles()).toEqual(["late.png", ...before]);
  await app.advanceTime(25 * 3_600_000);
  expect(await read(late.id)).toMatchObject({ status: "expired" });
  expect(await listFiles()).toEqual(before);
});

test("an amended plan downloads its file again", async () => {
  const made = await planImage("+14155553005", "amended.png");
  await app.runDueJobs();
  answer = [200, "image/jpeg", jpeg];
  const changed = { media_url: address("amended.jpg") };
  const { data } = await app.call(plans.amend_plan, { id: made.id, input: changed });
  expect(data).toMatchObject({ status: "preparing", version: 2 });
  await app.runDueJobs();
  await run(made.id);
  await deliver();
  expect(await filesAt("+14155553005")).toEqual([{ file: hash(jpeg), status: "delivered" }]);
  expect(await listFiles()).not.toContain("amended.png");
});

test("a reply with a file lapses when the contact writes while the file is downloaded", async () => {
  const phone = openPhone(app, "+14155553006");
  await phone.write("Do you have a menu?");
  await app.runDueJobs();
  const made = await planImage("+14155553006");
  await phone.write("Never mind.");
  await app.runDueJobs();
  expect(await read(made.id)).toMatchObject({ status: "ready" });
  expect(await expectFailure(run(made.id))).toMatchObject({ code: "plan_lapsed" });
});

test("a plan that needs a person waits for one when its file has been downloaded", async () => {
  const { createKey, decide, request, signPerson } = createApprovalHelpers(app);
  const { key } = await createKey({ mode: "approve" });
  const number = "+14155553007";
  const body = { to: number, type: "image", media_url: address("asked.png") };
  const parked = await request(["POST", "/v1/messages", body], { key });
  expect(parked).toMatchObject({ status: 202, body: { data: { plan: { status: "preparing" } } } });
  const { id } = parked.body.data.plan;
  const { token } = await signPerson();
  expect((await decide("approve", await read(id), token)).status).toBe(409);
  await app.runDueJobs();
  const shown = await read(id);
  expect(shown).toMatchObject({ status: "awaiting_approval" });
  answer = [200, "image/jpeg", jpeg];
  expect((await decide("approve", shown, token)).status).toBe(200);
  await deliver();
  expect(await filesAt(number)).toEqual([{ file: hash(png), status: "delivered" }]);
});

test("a plan whose file was deleted does not send it from its address", async () => {
  const made = await planImage("+14155553008", "removed.png");
  await app.runDueJobs();
  const { data } = await app.call(uploads.list_uploads, { search: "removed.png" });
  await app.call(uploads.delete_upload, { id: data[0]?.id ?? "" });
  expect(await expectFailure(run(made.id))).toMatchObject({ code: "upload_not_found" });
});

test("an assistant is told that nothing was sent while a plan under a rule is being prepared", async () => {
  const { key } = await createApprovalHelpers(app).createKey({ mode: "confirm" });
  await using assistant = await connectAssistant(app, key);
  const media = { to: "+14155553098", type: "image", media_url: address("menu.png") };
  const { content } = await assistant.client.callTool({ name: "send_media_message", arguments: media });
  expect((content as { text: string }[]).slice(0, 2)).toEqual([
    { type: "text", text: "Nothing was sent yet: the plan is being prepared." },
    {
      type: "text",
      text: "Read it with get_plan until its status is another one, then run it with run_plan.",
    },
  ]);
});
