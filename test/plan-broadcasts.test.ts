/** Plans of broadcasts: exactly those that the plan shows are reached, with the texts that it shows. */
import { expect, test } from "vitest";
import { broadcasts } from "../tools/broadcasts/index.ts";
import { contacts } from "../tools/contacts.ts";
import { plans } from "../tools/plans.ts";
import { useTestApp } from "./support/app.ts";
import { createBroadcastHelpers } from "./support/broadcasts.ts";
import { expectFailure } from "./support/expect-failure.ts";
import { createPlanHelpers } from "./support/plans.ts";
import { openPhone } from "./support/simulator.ts";

const app = useTestApp();
const { approve, get, recipients } = createBroadcastHelpers(app);
const { deliver, draft, planBroadcast, run } = createPlanHelpers(app);

test("a planned broadcast reaches exactly those it shows, with the texts it shows", async () => {
  const { id, numbers, people, cohort } = await draft(426, 4);
  const made = await planBroadcast(id);
  expect(made).toMatchObject({ recipient_count: 4, excluded_count: 0, operation: "execute_broadcast" });
  const [renamed, untagged] = people;
  await app.call(contacts.update_contact, { id: renamed?.id ?? "", name: "Eve" });
  await app.call(contacts.tag_contact, { id: untagged?.id ?? "", remove: [cohort.name] });
  const late = (await app.call(contacts.create_contact, { phone_number: "+14265559999", name: "Late" })).data;
  await app.call(contacts.tag_contact, { id: late.id, add: [cohort.name] });
  await run(made.id);
  await deliver();
  for (const number of numbers) {
    expect((await openPhone(app, number).listMessages()).map(({ template }) => template?.body)).toEqual([
      "Hello Ann, we have an offer.",
    ]);
  }
  expect(await openPhone(app, "+14265559999").listMessages()).toEqual([]);
  expect(await get(id)).toMatchObject({ recipient_count: 4, execution_status: "completed" });
});

test("targets that may not be written to any more are skipped and counted", async () => {
  const { id, people, numbers } = await draft(427, 4);
  const made = await planBroadcast(id);
  const [blocked, stopped, erased] = people;
  await app.call(contacts.update_contact, { id: blocked?.id ?? "", blocked: true });
  await app.call(contacts.update_contact, { id: stopped?.id ?? "", opted_out: true });
  await app.call(contacts.delete_contact, { id: erased?.id ?? "" });
  await app.runDueJobs();
  const { result } = await run(made.id);
  expect(result).toMatchObject({ data: { recipient_count: 1, excluded: { blocked: 1, opted_out: 1 } } });
  await deliver();
  const reached = await Promise.all(
    numbers.map(async (number) => (await openPhone(app, number).listMessages()).length),
  );
  expect(reached).toEqual([0, 0, 0, 1]);
});

test("a contact with another number is skipped", async () => {
  const { id, people, numbers } = await draft(428, 2);
  const made = await planBroadcast(id);
  await app.server.database.queries
    .updateTable("contacts")
    .set({ phone_number: "+14285557777" })
    .where("id", "=", people[0]?.id ?? "")
    .execute();
  await run(made.id);
  await deliver();
  expect((await recipients(id)).map(({ status, reason }) => [status, reason]).sort()).toEqual([
    ["delivered", null],
    ["excluded", "address_changed"],
  ]);
  expect(await openPhone(app, "+14285557777").listMessages()).toEqual([]);
  expect(await openPhone(app, numbers[0] ?? "").listMessages()).toEqual([]);
});

test("a broadcast that was changed does not run: the answer has the new plan, which runs", async () => {
  const { id } = await draft(429);
  const other = await approve({ name: "other_429", template_data: { body: "Hi {{1}}, come and see." } });
  const made = await planBroadcast(id);
  await app.call(broadcasts.update_broadcast, { id, template_id: other.id });
  const failure = await expectFailure(run(made.id));
  expect(failure).toMatchObject({
    status: 409,
    code: "plan_changed",
    error: { plan: { id: made.id, version: 2, samples: [{ text: "Hi Ann, come and see." }, {}, {}] } },
  });
  expect(await get(id)).toMatchObject({ execution_status: "draft", recipient_count: 0 });
  expect((await run(made.id, 2)).plan).toMatchObject({ status: "run", version: 2 });
  expect(await get(id)).toMatchObject({ recipient_count: 3 });
});

test("targets are searched, and unusual ones come first", async () => {
  const { id, people } = await draft(430, 24);
  const [odd, long] = [people[20], people[22]];
  await app.call(contacts.update_contact, { id: odd?.id ?? "", name: "see https://x.example" });
  await app.call(contacts.update_contact, { id: long?.id ?? "", name: "A".repeat(60) });
  const { id: plan_id } = await planBroadcast(id);
  const page = await app.call(plans.get_plan, { id: plan_id, per_page: 5 });
  expect(page.meta).toMatchObject({ total: 24, per_page: 5 });
  expect(page.data.targets.map(({ is_unusual }) => is_unusual)).toEqual([true, true, false, false, false]);
  expect(new Set(page.data.targets.slice(0, 2).map(({ contact_id }) => contact_id))).toEqual(
    new Set([odd?.id, long?.id]),
  );
  const found = await app.call(plans.get_plan, { id: plan_id, search: "x.example" });
  expect(found.data.targets.map(({ contact_id }) => contact_id)).toEqual([odd?.id]);
});
