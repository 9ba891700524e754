/** Quick replies: one text per short code, found by either. */
import { expect, test } from "vitest";
import { quickReplies } from "../tools/quick-replies.ts";
import { useTestApp } from "./support/app.ts";
import { expectFailure } from "./support/expect-failure.ts";

const app = useTestApp();

const create = (short_code: string, content = `The text of ${short_code}`) =>
  app.call(quickReplies.create_quick_reply, { short_code, content });

const find = async (search?: string) =>
  (await app.call(quickReplies.list_quick_replies, search === undefined ? {} : { search })).data.map(
    ({ short_code }) => short_code,
  );

test("a reply is created, and updated in part", async () => {
  const { data } = await create(" hours ", "We are open from 9 to 5.");
  expect(data).toMatchObject({ short_code: "hours", created_by: expect.stringMatching(/^usr_/) });
  await app.advanceTime(1000);
  const changed = await app.call(quickReplies.update_quick_reply, {
    id: data.id,
    content: "From 10 to 4.",
  });
  expect(changed.data).toEqual({
    ...data,
    content: "From 10 to 4.",
    updated_at: app.now().toISOString(),
  });
});

test("codes ignore case, and a conflict names the existing reply", async () => {
  const { data } = await create("Réfund");
  const again = await expectFailure(create("rÉFUND"));
  expect(again).toMatchObject({ status: 409, code: "quick_reply_exists", error: { existing_id: data.id } });
  const other = await create("other");
  const rename = await expectFailure(
    app.call(quickReplies.update_quick_reply, { id: other.data.id, short_code: "RÉFUND" }),
  );
  expect(rename).toMatchObject({ status: 409, error: { existing_id: data.id } });
  const own = await app.call(quickReplies.update_quick_reply, { id: data.id, short_code: "RÉFUND" });
  expect(own.data.short_code).toBe("RÉFUND");
});

test("an unknown reply is not found, also if its new code is taken", async () => {
  await create("taken");
  const input = { id: "qr_none", short_code: "taken" };
  const failure = await expectFailure(app.call(quickReplies.update_quick_reply, input));
  expect(failure).toMatchObject({ status: 404, code: "quick_reply_not_found" });
});

test("of several concurrent creations and renames to one code, one succeeds", async () => {
  const created = await Promise.all(["a1", "a2", "a3"].map((code) => create(code)));
  const renames = created.map(({ data }) =>
    app.call(quickReplies.update_quick_reply, { id: data.id, short_code: "wanted" }),
  );
  const outcomes = await Promise.allSettled([...renames, create("Wanted"), create("WANTED")]);
  expect(outcomes.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
  const failures = outcomes.flatMap((one) => (one.status === "rejected" ? [one.reason.status] : []));
  expect(failures).toEqual([409, 409, 409, 409]);
});

test("search finds part of a code or text, and takes wildcards literally", async () => {
  await create("discount", "10% off, code SAVE_10");
  await create("zebra", "Nothing here");
  expect(await find("DISC")).toEqual(["discount"]);
  expect(await find("10% OFF")).toEqual(["discount"]);
  expect(await find("save_1")).toEqual(["discount"]);
  expect(await find("d_sc")).toEqual([]);
  expect(await find("\\")).toEqual([]);
  const all = await find();
  expect(all).toEqual(expect.arrayContaining(["discount", "zebra"]));
  expect(all.at(-1)).toBe("zebra");
});

test("one reply is read by its id", async () => {
  const { data } = await create("warranty", "Two years from the day of purchase.");
  expect(await app.call(quickReplies.get_quick_reply, { id: data.id })).toEqual({ data });
});

test("a deleted reply is not found, and its code can be used again", async () => {
  const { data } = await create("gone");
  const remove = () => app.call(quickReplies.delete_quick_reply, { id: data.id });
  expect(await remove()).toEqual({ data: { deleted: true } });
  expect(await expectFailure(remove())).toMatchObject({ status: 404, code: "quick_reply_not_found" });
  const read = app.call(quickReplies.get_quick_reply, { id: data.id });
  expect(await expectFailure(read)).toMatchObject({ status: 404, code: "quick_reply_not_found" });
  await create("gone");
});

test("a blank code is rejected with its field", async () => {
  expect(await expectFailure(create("  "))).toMatchObject({ status: 400, error: { param: "short_code" } });
});
