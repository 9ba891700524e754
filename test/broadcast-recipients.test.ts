/** The recipients of a broadcast: their list by status, its pages, and the CSV. */
import { parse } from "csv-parse/sync";
import { sql } from "kysely";
import { afterEach, describe, expect, test } from "vitest";
import { toCsvRow } from "../src/platform/automation/broadcasts/reading/csv.ts";
import { apiKeys } from "../tools/api-keys.ts";
import { broadcasts, type RecipientStatus } from "../tools/broadcasts/index.ts";
import { contacts } from "../tools/contacts.ts";
import { useTestApp } from "./support/app.ts";
import { createBroadcastHelpers, phoneNumbers } from "./support/broadcasts.ts";
import { createOtherTenant } from "./support/other-tenant.ts";
import { openPhone, setFaults } from "./support/simulator.ts";

const app = useTestApp();
const { approve, create, createCohort, execute, get } = createBroadcastHelpers(app);

afterEach(() => setFaults(app, {}));

let templates = 0;

/** A draft to new contacts, and their ids by number. */
async function createDraft(numbers: readonly string[], name = "Ann") {
  templates += 1;
  const { cohort, people } = await createCohort(numbers, { name });
  const template = await approve({
    name: `offer_${templates}`,
    template_data: { body: "Hello {{1}}, we have an offer." },
  });
  const { id } = await create({
    name: "Offer",
    cohort_id: cohort.id,
    template_id: template.id,
    variable_mapping: { "1": "name" },
  });
  return { id, people };
}

async function list(id: string, filter: { status?: RecipientStatus; page?: number; per_page?: number } = {}) {
  return app.call(broadcasts.list_broadcast_recipients, { id, ...filter });
}

/** The numbers of each status, and the totals of the lists. */
async function byStatus(id: string) {
  const found: Partial<Record<RecipientStatus, (string | null)[]>> = {};
  const statuses = ["pending", "queued", "sent", "delivered", "read", "failed", "excluded"] as const;
  for (const status of statuses) {
    const { data, meta } = await list(id, { status });
    expect(data.map((one) => one.status)).toEqual(data.map(() => status));
    expect(meta.total).toBe(data.length);
    if (data.length > 0) {
      found[status] = data.map(({ to }) => to);
    }
  }
  return found;
}

test("recipients are listed by each status that they have", { tags: "both" }, async () => {
  const numbers = phoneNumbers(5, 505);
  const [first = "", second = "", failing = "", busy = "", optedOut = ""] = numbers;
  const { id, people } = await createDraft(numbers);
  await app.call(contacts.update_contact, { id: people[4]?.id ?? "", opted_out: true });
  await execute(id);
  expect(await byStatus(id)).toEqual({
    pending: [first, second, failing, busy],
    excluded: [optedOut],
  });
  const failures = [
    { code: 131026, to: failing },
    { code: 130429, to: busy },
  ];
  await setFaults(app, { receipt_delay_ms: 60_000, failures });
  for (let step = 0; step < 10; step += 1) {
    await app.advanceTime(1_000);
  }
  const others = { queued: [busy], excluded: [optedOut] };
  // A failure of this kind is reported by a receipt.
  expect(await byStatus(id)).toEqual({ sent: [first, second, failing], ...others });
  await setFaults(app, { failures });
  await app.advanceTime(60_000);
  await openPhone(app, first).read();
  expect(await byStatus(id)).toEqual({ delivered: [second], read: [first], failed: [failing], ...others });
  const { data, meta } = await list(id);
  expect(meta).toEqual({ page: 1, per_page: 25, total: 5 });
  expect(data.map(({ to, status, reason, error }) => [to, status, reason, error?.channel_code])).toEqual([
    [first, "read", null, undefined],
    [second, "delivered", null, undefined],
    [failing, "failed", null, 131_026],
    [busy, "queued", null, undefined],
    [optedOut, "excluded", "opted_out", undefined],
  ]);
});

test("pages follow each other, also of one status", { tags: "both" }, async () => {
  const { id } = await createDraft(phoneNumbers(7, 506));
  await execute(id);
  for (const status of [undefined, "pending", "delivered"] as const) {
    if (status === "delivered") {
      for (let step = 0; step < 5; step += 1) {
        await app.advanceTime(1_000);
      }
    }
    const filter = status === undefined ? {} : { status };
    const pages = [];
    for (const page of [1, 2, 3, 4]) {
      const { data, meta } = await list(id, { ...filter, page, per_page: 3 });
      expect(meta.total).toBe(7);
      pages.push(data.map(({ contact_id }) => contact_id));
    }
    expect(pages.map(({ length }) => length)).toEqual([3, 3, 1, 0]);
    expect(new Set(pages.flat()).size).toBe(7);
    expect(pages.flat()).toEqual(pages.flat().toSorted());
  }
});

test("those whom a cancel left out are excluded, and an erased contact has no number and no name", async () => {
  const { id, people } = await createDraft(phoneNumbers(2, 507), "Ann");
  await execute(id);
  await app.call(broadcasts.cancel_broadcast, { id });
  await app.call(contacts.delete_contact, { id: people[0]?.id ?? "" });
  expect((await list(id)).data).toMatchObject([
    { contact_id: people[0]?.id, contact_name: null, to: null, status: "excluded", reason: "cancelled" },
    {
      contact_id: people[1]?.id,
      contact_name: "Ann",
      to: people[1]?.phone_number,
      status: "excluded",
      reason: "cancelled",
    },
  ]);
  expect(await get(id)).toMatchObject({ excluded: { cancelled: 2 }, stats: { total: 0 } });
});

describe("the CSV", () => {
  const download = (id: string, query = "", options = {}) =>
    app.fetch(`/v1/broadcasts/${id}/recipients.csv${query}`, options);
  const read = async (id: string, query = "") => {
    const answer = await download(id, query);
    expect([answer.status, answer.headers.get("content-type")]).toEqual([200, "text/csv; charset=utf-8"]);
    const rows: Record<string, string>[] = parse(await answer.text(), { columns: true });
    return rows;
  };

  test("has a row for each recipient, and those of one status", async () => {
    const [delivered = "", failed = ""] = phoneNumbers(2, 508);
    const { id, people } = await createDraft([delivered, failed], '=HYPERLINK("https://x.example"), Łucja');
    await execute(id);
    await setFaults(app, { failures: [{ code: 131026, to: failed }] });
    for (let step = 0; step < 5; step += 1) {
      await app.advanceTime(1_000);
    }
    const [one, two] = (await list(id)).data;
    const name = `'=HYPERLINK("https://x.example"), Łucja`;
    expect(await read(id)).toEqual([
      {
        contact_id: people[0]?.id,
        to: delivered,
        name,
        status: "delivered",
        reason: "",
        error_code: "",
        error_title: "",
        message_id: one?.message_id,
        conversation_id: one?.conversation_id,
        sent_at: one?.sent_at,
        delivered_at: one?.delivered_at,
        read_at: "",
        failed_at: "",
      },
      {
        contact_id: people[1]?.id,
        to: failed,
        name,
        status: "failed",
        reason: "",
        error_code: two?.error?.code,
        error_title: two?.error?.title,
        message_id: two?.message_id,
        conversation_id: two?.conversation_id,
        sent_at: two?.sent_at,
        delivered_at: "",
        read_at: "",
        failed_at: two?.failed_at,
      },
    ]);
    expect((await read(id, "?status=failed")).map(({ to }) => to)).toEqual([failed]);
    expect(await read(id, "?status=read")).toEqual([]);
  });

  test("is read in batches, each recipient once", { tags: "both" }, async () => {
    const { id } = await createDraft(phoneNumbers(1, 509));
    await sql`
      insert into broadcast_recipients (organization_id, broadcast_id, contact_id, "to", status, reason)
      select organization_id, id, 'con_many_' || number, '+1509' || number, 'excluded', 'blocked'
      from broadcasts, generate_series(10001, 12500) as number where id = ${id}
    `.execute(app.server.database.queries);
    const numbers = (await read(id)).map(({ to }) => to);
    expect(numbers).toEqual(Array.from({ length: 2_500 }, (_, index) => `+1509${10_001 + index}`));
    expect(await read(id, "?status=pending")).toEqual([]);
  });

  test("needs both scopes, a known status, and a broadcast of the same organization", async () => {
    const other = await createOtherTenant(app);
    const missing = await download(other.broadcast_id);
    expect([missing.status, await missing.json()]).toMatchObject([
      404,
      { error: { code: "broadcast_not_found" } },
    ]);
    const { data } = await app.call(apiKeys.create_api_key, { name: "reads", scopes: ["broadcasts:read"] });
    const { id } = await createDraft(phoneNumbers(1, 510));
    const denied = await download(id, "", { key: data.secret_key });
    expect([denied.status, await denied.json()]).toMatchObject([
      403,
      { error: { code: "insufficient_scope", required_scopes: ["broadcasts:read", "contacts:read"] } },
    ]);
    expect((await download(id, "", { key: null })).status).toBe(401);
    for (const [query, param] of [
      ["?status=gone", "status"],
      ["?status=read&status=sent", "status"],
      ["?Status=read", "Status"],
    ]) {
      const answer = await download(id, query);
      expect([answer.status, await answer.json()]).toMatchObject([
        400,
        { error: { code: "invalid_request", details: [{ field: param }] } },
      ]);
    }
  });

  test.each([
    [["=1+1", "+1", "-5", "@SUM(A1)"], "'=1+1,+1,'-5,'@SUM(A1)"],
    [["\tx", "\r=1"], `"'\tx","'\r=1"`.replace(`"'\tx"`, "'\tx")],
    [["+14155550123", "+1+1", "+cmd|' /C calc'!A0"], "+14155550123,'+1+1,'+cmd|' /C calc'!A0"],
    [['say "hi"', "a,b", "two\nlines", " padded "], '"say ""hi""","a,b","two\nlines"," padded "'],
    [[null, "", "plain", "a=b"], ",,plain,a=b"],
  ])("writes %j so that no spreadsheet computes it", (cells, expected) => {
    expect(toCsvRow(cells)).toBe(`${expected}\r\n`);
  });
});
