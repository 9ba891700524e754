/** The reviews of the simulated authority: by its settings and by hand, their notices, and pauses. */
import { describe, expect, test } from "vitest";
import { inbox, useSimulatedAuthority } from "./support/simulated-authority.ts";

const open = useSimulatedAuthority();
const hour = 3_600_000;
const notice = { organization_id: "org_1", phone_number: "+15550000001", name: "order_update" };
const second = { ...inbox, id: "inb_2", phone_number: "+15550000002" };

describe("the review", () => {
  test("approves after a second, with good quality, and reports it", async () => {
    const { submitted, list, advance, notices } = open();
    await submitted();
    await advance(999);
    expect([await list(), notices]).toMatchObject([[{ raw_status: "PENDING" }], []]);
    await advance(1);
    expect(await list()).toMatchObject([
      { raw_status: "APPROVED", quality_rating: "GREEN", rejection_reason: null },
    ]);
    expect(notices).toEqual([notice]);
  });

  test("rejects with its reason, after its delay", async () => {
    const { put, submitted, list, advance, notices } = open();
    await put({ outcome: "reject", reason: "Reads like a scam: «Gewinn»", delay_ms: 60_000 });
    await submitted();
    await advance(59_999);
    expect(await list()).toMatchObject([{ raw_status: "PENDING" }]);
    await advance(1);
    const rejection_reason = "Reads like a scam: «Gewinn»";
    expect(await list()).toMatchObject([
      { raw_status: "REJECTED", rejection_reason, quality_rating: "UNKNOWN" },
    ]);
    expect(notices).toEqual([notice]);
  });

  test("that holds leaves a template pending until it is decided by hand", async () => {
    const { put, submitted, list, advance, notices } = open();
    await put({ outcome: "hold" });
    await submitted();
    await advance(365 * 86_400_000);
    expect([await list(), notices]).toMatchObject([[{ raw_status: "PENDING" }], []]);
    await put({ name: "order_update", outcome: "approve" });
    expect(await list()).toMatchObject([{ raw_status: "APPROVED" }]);
  });

  test("decides by the settings at the time of the submission", async () => {
    const { put, submitted, list, advance, notices } = open();
    await put({ outcome: "reject", reason: "SCAM", notices: false, delay_ms: 5_000 });
    await submitted();
    await put({});
    await advance(5_000);
    expect(await list()).toMatchObject([{ raw_status: "REJECTED", rejection_reason: "SCAM" }]);
    expect(notices).toEqual([]);
  });

  test("of an earlier version is void", async () => {
    const { put, submitted, list, advance, notices } = open();
    await put({ delay_ms: 10_000, notices: false });
    const external_id = await submitted();
    await put({ name: "order_update", outcome: "reject" });
    await put({ outcome: "hold" });
    await submitted({ external_id, category: "marketing" });
    await advance(10_000);
    expect(await list()).toMatchObject([{ raw_status: "PENDING", category: "marketing" }]);
    expect(notices).toEqual([]);
  });

  test("of a template that was decided by hand is void", async () => {
    const { put, submitted, list, advance } = open();
    await submitted();
    await put({ name: "order_update", outcome: "reject" });
    await advance(1_000);
    expect(await list()).toMatchObject([{ raw_status: "REJECTED" }]);
  });

  test("is not affected by a change of the quality or category", async () => {
    const { put, submitted, list, advance } = open();
    await submitted();
    await put({ name: "order_update", quality: "YELLOW", category: "marketing" });
    expect(await list()).toMatchObject([{ raw_status: "PENDING", quality_rating: "YELLOW" }]);
    await advance(1_000);
    expect(await list()).toMatchObject([{ raw_status: "APPROVED", category: "marketing" }]);
  });

  test("without notices is only found by listing", async () => {
    const { put, submitted, list, advance, notices } = open();
    await put({ notices: false });
    await submitted();
    await advance(1_000);
    await put({ name: "order_update", outcome: "pause" });
    await advance(3 * hour);
    expect(await list()).toMatchObject([{ raw_status: "APPROVED" }]);
    expect(notices).toEqual([]);
  });

  test("is reported again if the callback throws, and decides once", async () => {
    let failures = 0;
    const { submitted, list, advance, notices, logged } = open(() => {
      failures += 1;
      if (failures === 1) {
        throw new Error("The platform is down.");
      }
    });
    await submitted();
    await advance(1_000);
    expect(await list()).toMatchObject([{ raw_status: "APPROVED" }]);
    expect(notices).toEqual([]);
    await advance(2_000);
    expect(notices).toEqual([notice]);
    expect(failures).toBe(2);
    expect(logged).toEqual(["A job failed and will be retried"]);
  });
});

describe("a decision by hand", () => {
  test.each([
    [{ outcome: "approve" }, { status: "APPROVED", rejection_reason: null, quality_rating: "GREEN" }],
    [
      { outcome: "approve", quality: "RED" },
      { status: "APPROVED", quality_rating: "RED" },
    ],
    [
      { outcome: "reject" },
      { status: "REJECTED", rejection_reason: "INVALID_FORMAT", quality_rating: "UNKNOWN" },
    ],
    [
      { outcome: "reject", reason: "PROMOTIONAL" },
      { status: "REJECTED", rejection_reason: "PROMOTIONAL" },
    ],
    [{ outcome: "pause" }, { status: "PAUSED", rejection_reason: null, quality_rating: "UNKNOWN" }],
    [{ outcome: "disable" }, { status: "DISABLED", rejection_reason: null }],
    [{ quality: "YELLOW" }, { status: "PENDING", quality_rating: "YELLOW" }],
    [{ category: "marketing" }, { status: "PENDING", category: "marketing" }],
  ])("%j acts at once and is reported", async (decision, expected) => {
    const { put, submitted, list, advance, notices } = open();
    await put({ outcome: "hold" });
    const external_id = await submitted();
    const answer = await put({ name: "Order_Update", ...decision });
    const { phone_number } = inbox;
    const template = { external_id, phone_number, name: "order_update", ...expected };
    expect(answer).toMatchObject({ status: 200, body: { data: { templates: [template] } } });
    const { status, ...rest } = expected;
    expect(await list()).toMatchObject([{ raw_status: status, ...rest }]);
    await advance(0);
    expect(notices).toEqual([notice]);
  });

  test("that changes nothing is not reported", async () => {
    const { put, submitted, advance, notices } = open();
    await submitted();
    await put({ name: "order_update", quality: "UNKNOWN" });
    await advance(999);
    expect(notices).toEqual([]);
  });

  test("takes the reason of the settings if it has none", async () => {
    const { put, submitted, list } = open();
    await put({ reason: "ABUSIVE_CONTENT" });
    await submitted();
    await put({ name: "order_update", outcome: "reject" });
    expect(await list()).toMatchObject([{ rejection_reason: "ABUSIVE_CONTENT" }]);
  });

  test("is about every language and inbox, or those that it names", async () => {
    const { put, submitted, list } = open();
    await submitted();
    await submitted({ language: "de" });
    await submitted({ inbox: second });
    const statuses = async () =>
      [...(await list()), ...(await list(second))].map(({ raw_status }) => raw_status);
    await put({ name: "order_update", language: "de", outcome: "reject" });
    expect(await statuses()).toEqual(["PENDING", "REJECTED", "PENDING"]);
    await put({ name: "order_update", phone_number: "15550000002", outcome: "disable" });
    expect(await statuses()).toEqual(["PENDING", "REJECTED", "DISABLED"]);
    await put({ name: "order_update", outcome: "approve" });
    expect(await statuses()).toEqual(["APPROVED", "APPROVED", "APPROVED"]);
  });

  test("about an unknown name is rejected with names that exist", async () => {
    const { put, submitted } = open();
    const decide = (fields: object) => put({ name: "order_update", outcome: "approve", ...fields });
    const invalid = (message: string) => ({ invalid: { field: "name", message } });
    expect(await decide({})).toEqual(invalid("No template was submitted."));
    for (const name of ["f", "e", "d", "c", "b", "a"]) {
      await submitted({ name });
    }
    expect(await decide({})).toEqual(
      invalid("There is no template order_update. Choose one of: a (en), b (en), c (en), d (en), e (en)."),
    );
    expect(await decide({ name: "f", language: "de" })).toEqual(
      invalid("There is no template f (de). Choose one of: f (en), a (en), b (en), c (en), d (en)."),
    );
    expect(await decide({ name: "f", phone_number: "+15550000002" })).toEqual(
      invalid("No template was submitted for +15550000002."),
    );
    expect(await put({ name: "f", outcome: "approve" }, { organization_id: "org_2" })).toEqual(
      invalid("No template was submitted."),
    );
  });
});

describe("a pause", () => {
  test("ends after 3 hours, the second one after 6, and the third disables", async () => {
    const { put, submitted, list, advance, notices } = open();
    await submitted();
    await advance(1_000);
    const statusAfter = async (ms: number) => {
      await advance(ms);
      return (await list())[0]?.raw_status;
    };
    const pause = () => put({ name: "order_update", outcome: "pause", quality: "RED" });
    await pause();
    expect(await statusAfter(3 * hour - 1)).toBe("PAUSED");
    expect(await statusAfter(1)).toBe("APPROVED");
    await pause();
    expect(await statusAfter(6 * hour - 1)).toBe("PAUSED");
    expect(await statusAfter(1)).toBe("APPROVED");
    await pause();
    expect(await statusAfter(0)).toBe("DISABLED");
    expect(await statusAfter(365 * 24 * hour)).toBe("DISABLED");
    expect(await list()).toMatchObject([{ quality_rating: "RED" }]);
    expect(notices).toHaveLength(6);
  });

  test("counts each of several at once", async () => {
    const { put, submitted, list } = open();
    await submitted();
    await Promise.all(Array.from({ length: 3 }, () => put({ name: "order_update", outcome: "pause" })));
    expect(await list()).toMatchObject([{ raw_status: "DISABLED" }]);
  });

  test("goes on when the quality changes, and its end is void after another decision or a submission", async () => {
    const { put, submitted, list, advance } = open();
    await put({ outcome: "hold" });
    const names = ["improved", "rejected", "changed"];
    const ids = await Promise.all(names.map((name) => submitted({ name })));
    for (const name of names) {
      await put({ name, outcome: "pause" });
    }
    await put({ name: "improved", quality: "YELLOW" });
    await put({ name: "rejected", outcome: "reject" });
    await submitted({ name: "changed", external_id: ids[2] ?? null });
    await advance(3 * hour);
    const statuses = (await list()).map(({ name, raw_status }) => [name, raw_status]);
    expect(Object.fromEntries(statuses)).toEqual({
      improved: "APPROVED",
      rejected: "REJECTED",
      changed: "PENDING",
    });
  });
});
