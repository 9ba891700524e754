/** The routes of the simulated review authority: its settings, its templates, and errors. */
import { describe, expect, test } from "vitest";
import { useTestApp } from "./support/app.ts";
import { inbox, submission, useSimulatedAuthority } from "./support/simulated-authority.ts";
import { createUserKey } from "./support/users.ts";

const open = useSimulatedAuthority();
const second = { ...inbox, id: "inb_2", phone_number: "+15550000002" };

describe("the controls", () => {
  const defaults = {
    outcome: "approve",
    delay_ms: 1000,
    reason: "INVALID_FORMAT",
    notices: true,
    busy: false,
    lost_answers: false,
  };

  const delayMessage = "Send a whole number of milliseconds from 0 to 86400000, which is a day.";

  test("replace the settings as a whole", async () => {
    const { put, get } = open();
    expect(await get()).toMatchObject({ body: { data: { review: defaults, templates: [] } } });
    await put({ busy: true, reason: "SCAM" });
    const review = { ...defaults, outcome: "reject", delay_ms: 5 };
    expect(await put({ outcome: "reject", delay_ms: 5 })).toEqual({
      status: 200,
      body: { data: { review } },
    });
    expect(await get()).toMatchObject({ body: { data: { review } } });
    expect(await put(undefined)).toEqual({ status: 200, body: { data: { review: defaults } } });
  });

  test("list the newest templates first, and how many there are", async () => {
    const { submitted, get } = open();
    const ids = [await submitted(), await submitted({ language: "de", inbox: second })];
    await submitted({ inbox: { ...inbox, organization_id: "org_2" } });
    const { category, template_data, variables } = submission();
    const newest = {
      external_id: ids[1],
      phone_number: second.phone_number,
      name: "order_update",
      language: "de",
      category,
      status: "PENDING",
      rejection_reason: null,
      quality_rating: "UNKNOWN",
      template_data,
      variables,
      created_at: "2026-03-01T10:00:00.000Z",
    };
    const data = { review: defaults, templates: [newest] };
    expect(await get({ limit: "1" })).toEqual({ status: 200, body: { data, meta: { limit: 1, total: 2 } } });
    expect(await get({ limit: "500" })).toMatchObject({
      body: { data: { templates: [newest, { external_id: ids[0] }] }, meta: { limit: 200, total: 2 } },
    });
    expect(await get({ limit: "0" })).toEqual({
      invalid: { field: "limit", message: "Send a whole number from 1." },
    });
  });

  test.each([
    [{ delay: 5 }, "delay", "There is no such setting."],
    [{ name: "a", outcom: "approve" }, "outcom", "There is no such setting."],
    [{ name: "a", delay_ms: 5, outcome: "approve" }, "delay_ms", "There is no such setting."],
    [{ outcome: "pause" }, "outcome", "Send approve, reject or hold. Without name, no other is possible."],
    [{ name: "a", outcome: "hold" }, "outcome", "With name, send approve, reject, pause or disable."],
    [{ name: "a" }, "outcome", "Send outcome, quality or category."],
    [{ name: "a", quality: "BLUE" }, "quality", "Send GREEN, YELLOW, RED or UNKNOWN."],
    [{ name: "a", category: "MARKETING" }, "category", "Send authentication, utility or marketing."],
    [{ name: "a", outcome: "pause", reason: "SCAM" }, "reason", "Only the outcome reject has a reason."],
    [{ name: 5, outcome: "pause" }, "name", "Send a text of 1 to 512 characters."],
    [{ reason: "x".repeat(513) }, "reason", "Send a text of 1 to 512 characters."],
    [{ notices: "no" }, "notices", "Send true or false."],
    [[], "", "Send an object."],
    [{ delay_ms: -1 }, "delay_ms", delayMessage],
    [{ delay_ms: 0.5 }, "delay_ms", delayMessage],
    [{ delay_ms: 86_400_001 }, "delay_ms", delayMessage],
    [{ delay_ms: "5" }, "delay_ms", delayMessage],
  ])("reject %j with its field", async (body, field, message) => {
    const { put, get } = open();
    await put({ busy: true });
    expect(await put(body)).toEqual({ invalid: { field, message } });
    expect(await get()).toMatchObject({ body: { data: { review: { ...defaults, busy: true } } } });
  });
});

describe("over HTTP", () => {
  const app = useTestApp();

  test("reading requires templates:read, and changing templates:manage", async () => {
    const reader = await createUserKey(app, ["templates:read", "inbox:write"]);
    const manager = await createUserKey(app, ["templates:manage", "inbox:read"]);
    const get = (key: string) => app.fetch("/simulator/templates", { key });
    const put = (key: string) =>
      app.fetch("/simulator/templates", { key, method: "PUT", json: { outcome: "hold" } });
    const answers = [await get(reader), await put(reader), await get(manager), await put(manager)];
    expect(answers.map(({ status }) => status)).toEqual([200, 403, 403, 200]);
    expect(await answers[1]?.json()).toMatchObject({ error: { required_scopes: ["templates:manage"] } });
    expect(await answers[2]?.json()).toMatchObject({ error: { required_scopes: ["templates:read"] } });
    const { data } = (await (await get(reader)).json()) as { data: object };
    expect(data).toMatchObject({ review: { outcome: "hold" }, templates: [] });
  });

  test("an unknown name is an error in the field name", async () => {
    const json = { name: "order_update", outcome: "approve" };
    const answer = await app.fetch("/simulator/templates", { method: "PUT", json });
    expect([answer.status, await answer.json()]).toMatchObject([
      400,
      { error: { code: "invalid_request", param: "name" } },
    ]);
  });
});
