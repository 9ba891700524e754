/**
 * The templates of the simulated review authority: submissions, changes, lists and deletions, as on WhatsApp.
 */
import { describe, expect, test } from "vitest";
import { inbox, signal, submission, useSimulatedAuthority } from "./support/simulated-authority.ts";

const open = useSimulatedAuthority();
const notice = { organization_id: "org_1", phone_number: "+15550000001", name: "order_update" };
const second = { ...inbox, id: "inb_2", phone_number: "+15550000002" };
const otherTenant = { ...inbox, organization_id: "org_2" };

describe("a submission", () => {
  test("is pending, under its name in lower case, and holds what was submitted", async () => {
    const { submitted, list } = open();
    const { category, template_data, variables } = submission();
    const external_id = await submitted({ name: "Order_UPDATE" });
    expect(external_id).toMatch(/^\d{15}$/);
    expect(await list()).toEqual([
      {
        external_id,
        name: "order_update",
        language: "en",
        category,
        raw_status: "PENDING",
        rejection_reason: null,
        quality_rating: "UNKNOWN",
        version: { category, template_data, variables },
      },
    ]);
  });

  test("of a name that exists in the language is refused; another language or inbox may have it", async () => {
    const { submit, submitted, list } = open();
    const ids = [await submitted(), await submitted({ language: "de" }), await submitted({ inbox: second })];
    expect(new Set(ids).size).toBe(3);
    expect(await submit({ name: "ORDER_update", category: "marketing" })).toEqual({
      outcome: "refused",
      reason: "The name ORDER_update is in use in the language en. Send the template another name.",
    });
    expect(await list()).toMatchObject([
      { language: "en", category: "utility" },
      { language: "de", category: "utility" },
    ]);
  });

  test("of one name by two callers at once is accepted once", async () => {
    const { submit, list } = open();
    const results = await Promise.all([submit(), submit(), submit()]);
    expect(results.map(({ outcome }) => outcome).sort()).toEqual(["accepted", "refused", "refused"]);
    expect(await list()).toHaveLength(1);
  });

  test("that is aborted is not stored", async () => {
    const { authority, list } = open();
    await expect(authority.submit(submission(), AbortSignal.abort())).rejects.toThrow("aborted");
    expect(await list()).toEqual([]);
  });

  test("is answered with busy and not stored while the authority is busy", async () => {
    const { put, submit, list } = open();
    await put({ busy: true });
    expect(await submit()).toEqual({ outcome: "busy" });
    expect(await list()).toEqual([]);
    await put({});
    expect(await submit()).toMatchObject({ outcome: "accepted" });
  });

  test("is stored and reviewed although its answer is lost", async () => {
    const { put, submit, list, advance } = open();
    await put({ lost_answers: true });
    await expect(submit()).rejects.toThrow("answer was lost");
    expect(await list()).toMatchObject([{ name: "order_update", raw_status: "PENDING" }]);
    await advance(1_000);
    expect(await list()).toMatchObject([{ raw_status: "APPROVED" }]);
  });
});

describe("a change", () => {
  const changed = { category: "marketing" as const, template_data: { body: "Buy now." }, variables: [] };

  test.each(["approve", "reject", "pause"])(
    "after %s replaces the content, and is reviewed",
    async (outcome) => {
      const { put, submit, submitted, list, advance } = open();
      const external_id = await submitted();
      await put({ name: "order_update", outcome });
      expect(await submit({ external_id, ...changed })).toEqual({ outcome: "accepted", external_id });
      const { category } = changed;
      const pending = {
        external_id,
        category,
        raw_status: "PENDING",
        rejection_reason: null,
        version: changed,
      };
      expect(await list()).toMatchObject([pending]);
      await advance(1_000);
      expect(await list()).toMatchObject([{ ...pending, raw_status: "APPROVED" }]);
    },
  );

  test("of a template that is in review or disabled is refused", async () => {
    const { put, submit, submitted, list } = open();
    const external_id = await submitted();
    const reason = "A template can be changed while it is APPROVED, REJECTED, PAUSED; it is";
    expect(await submit({ external_id, ...changed })).toEqual({
      outcome: "refused",
      reason: `${reason} PENDING.`,
    });
    await put({ name: "order_update", outcome: "disable" });
    expect(await submit({ external_id, ...changed })).toEqual({
      outcome: "refused",
      reason: `${reason} DISABLED.`,
    });
    expect(await list()).toMatchObject([
      { category: "utility", version: { template_data: submission().template_data } },
    ]);
  });

  test.each([
    ["an id that does not exist", { external_id: "1" }],
    ["another inbox's template", { inbox: second }],
    ["another tenant's template", { inbox: otherTenant }],
  ])("of %s is refused", async (_, fields) => {
    const { put, submit, submitted, list } = open();
    const external_id = await submitted();
    await put({ name: "order_update", outcome: "approve" });
    const refused = await submit({ external_id, ...changed, ...fields });
    const id = { external_id, ...fields }.external_id;
    expect(refused).toEqual({ outcome: "refused", reason: `There is no template with the id ${id}.` });
    expect(await list()).toMatchObject([{ raw_status: "APPROVED", category: "utility" }]);
  });
});

describe("the list", () => {
  test("of 250 templates has three pages without gaps or repeats while templates are added", async () => {
    const { authority, submitted, put } = open();
    await put({ outcome: "hold" });
    const add = async (prefix: string, count: number) => {
      for (let index = 0; index < count; index += 1) {
        await submitted({ name: `${prefix}_${index}` });
      }
    };
    await add("before", 240);
    const first = await authority.list({ inbox, cursor: null }, signal);
    await add("a_between", 5);
    const middle = await authority.list({ inbox, cursor: first.next }, signal);
    await add("z_between", 5);
    const last = await authority.list({ inbox, cursor: middle.next }, signal);
    const pages = [first, middle, last].map(({ templates }) => templates);
    expect(pages.map((page) => page.length)).toEqual([100, 100, 50]);
    expect(new Set(pages.flat().map(({ name }) => name)).size).toBe(250);
    expect(last.next).toBeNull();
  });

  test("of exactly 100 templates has one page", async () => {
    const { authority, submitted, put } = open();
    await put({ outcome: "hold" });
    await Promise.all(Array.from({ length: 100 }, (_, index) => submitted({ name: `name_${index}` })));
    const { templates, next } = await authority.list({ inbox, cursor: null }, signal);
    expect([templates.length, next]).toEqual([100, null]);
  });

  test("finds a name in every language, whatever its case", async () => {
    const { authority, submitted } = open();
    await submitted();
    await submitted({ language: "pt_BR" });
    await submitted({ name: "order_update_2" });
    const { templates } = await authority.list({ inbox, name: "Order_Update", cursor: null }, signal);
    expect(templates.map(({ language }) => language)).toEqual(["en", "pt_BR"]);
  });
});

describe("a deletion", () => {
  test("removes the template in one language, and succeeds again without it", async () => {
    const { authority, submitted, list, advance, notices } = open();
    const external_id = await submitted();
    await submitted({ language: "de" });
    const deletion = () => authority.delete({ inbox, external_id, name: "order_update" }, signal);
    expect(await deletion()).toEqual({ outcome: "deleted" });
    expect(await deletion()).toEqual({ outcome: "deleted" });
    await advance(1_000);
    expect(await list()).toMatchObject([{ language: "de", raw_status: "APPROVED" }]);
    expect(notices).toEqual([notice]);
  });

  test("of another inbox's or another tenant's template has no effect", async () => {
    const { authority, submitted, list } = open();
    const external_id = await submitted();
    for (const other of [second, otherTenant]) {
      const deletion = { inbox: other, external_id, name: "order_update" };
      expect(await authority.delete(deletion, signal)).toEqual({ outcome: "deleted" });
    }
    expect(await list()).toMatchObject([{ external_id }]);
  });

  test("of a disabled template is refused", async () => {
    const { authority, submitted, put, list } = open();
    const external_id = await submitted();
    await put({ name: "order_update", outcome: "disable" });
    expect(await authority.delete({ inbox, external_id, name: "order_update" }, signal)).toEqual({
      outcome: "refused",
      reason: "A disabled template can't be deleted.",
    });
    expect(await list()).toMatchObject([{ raw_status: "DISABLED" }]);
  });
});

test("two organizations with one number and name are separate", async () => {
  const { submitted, put, list, advance, notices } = open();
  await submitted();
  await submitted({ inbox: otherTenant });
  await put({ outcome: "reject" }, { organization_id: "org_2" });
  await submitted({ inbox: otherTenant, language: "de" });
  await advance(1_000);
  await put({ name: "order_update", outcome: "disable" });
  await put({ name: "order_update", quality: "RED" }, { organization_id: "org_2" });
  expect(await list()).toMatchObject([{ raw_status: "DISABLED", quality_rating: "GREEN" }]);
  expect(await list(otherTenant)).toMatchObject([
    { language: "en", raw_status: "APPROVED", quality_rating: "RED" },
    { language: "de", raw_status: "REJECTED", quality_rating: "RED" },
  ]);
  const tenants = notices.map(({ organization_id }) => organization_id).sort();
  expect(tenants).toEqual(["org_1", "org_2", "org_2"]);
});
