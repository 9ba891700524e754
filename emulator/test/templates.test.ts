/** The templates of the WhatsApp emulator: rules, review, life cycle and lists. */
import { describe, expect, test } from "vitest";
import {
  app_id,
  approveTemplate,
  errorOf,
  type Json,
  useEmulator,
  waba_id,
} from "../../test/support/whatsapp-emulator.ts";

const current = useEmulator();
const path = `${waba_id}/message_templates`;
const dayMs = 24 * 3_600_000;

const body = (text: string, ...samples: string[]) => ({
  type: "BODY",
  text,
  ...(samples.length > 0 ? { example: { body_text: [samples] } } : {}),
});
const shipped = body("Your order has been shipped.");
const withVariable = body("Your order {{1}} has been shipped.", "A1");

function create(template: object) {
  const basis = { name: "order_update", language: "en_US", category: "UTILITY", components: [shipped] };
  return current().graph("POST", path, { ...basis, ...template });
}

const statusChanges = () =>
  current()
    .changes("message_template_status_update")
    .map(({ value }: Json) => [value.event, value.reason]);

const statusOf = async (id: string) => (await current().graph("GET", id)).body.status;

describe("creating a template", () => {
  const header = (text: string, example?: object) => ({
    type: "HEADER",
    format: "TEXT",
    text,
    ...(example ? { example } : {}),
  });
  const buttons = (...list: object[]) => ({ type: "BUTTONS", buttons: list });
  const reply = (text: string) => ({ type: "QUICK_REPLY", text });
  const bad: Readonly<Record<string, readonly [template: object, subcode?: number]>> = {
    "with capitals in the name": [{ name: "Order" }],
    "in an unknown language": [{ language: "xx_XX" }],
    "of an unknown category": [{ category: "GREETING" }],
    "without a body": [{ components: [header("Hello")] }],
    "with a header that is too long": [{ components: [header("a".repeat(61)), shipped] }, 2388040],
    "with a footer that is too long": [
      { components: [shipped, { type: "FOOTER", text: "a".repeat(61) }] },
      2388040,
    ],
    "with a body that is too long": [{ components: [body("a".repeat(1025))] }, 2388040],
    "with a variable in the footer": [
      { components: [shipped, { type: "FOOTER", text: "Bye {{1}}" }] },
      2388073,
    ],
    "with two variables in the header": [
      { components: [header("{{1}} and {{2}}", { header_text: ["a"] }), shipped] },
      2388047,
    ],
    "with a header variable without a sample": [{ components: [header("Hello {{1}}"), shipped] }, 2388047],
    "with a variable at the end": [{ components: [body("Your order is here: {{1}}", "A1")] }, 2388299],
    "with a variable at the start": [{ components: [body("{{1}} is your order number.", "A1")] }, 2388299],
    "with a gap in the variables": [
      { components: [body("Your order {{2}} has been shipped.", "A1")] },
      2388072,
    ],
    "with adjacent variables": [
      { components: [body("Your order {{1}}{{2}} has been shipped.", "a", "b")] },
      2388072,
    ],
    "without samples": [{ components: [body("Your order {{1}} has been shipped.")] }, 2388072],
    "with too many variables for its length": [
      { components: [body("A {{1}} b {{2}} c", "a", "b")] },
      2388293,
    ],
    "with an unknown sample": [
      {
        components: [
          { type: "HEADER", format: "IMAGE", example: { header_handle: ["4::unknown"] } },
          shipped,
        ],
      },
    ],
    "with a media header without a sample": [
      { components: [{ type: "HEADER", format: "IMAGE" }, shipped] },
      2388047,
    ],
    "with eleven buttons": [{ components: [shipped, buttons(...Array(11).fill(reply("Go")))] }],
    "with a long button": [{ components: [shipped, buttons(reply("a".repeat(26)))] }, 2388040],
    "with scattered quick replies": [
      {
        components: [
          shipped,
          buttons(reply("A"), { type: "URL", text: "Open", url: "https://a.b" }, reply("B")),
        ],
      },
    ],
    "with an authentication text of its own": [{ category: "AUTHENTICATION" }],
    "with a time to live of another category": [{ message_send_ttl_seconds: 100_000 }],
  };

  test.each(Object.entries(bad))("%s is refused", async (_, [template, subcode]) => {
    const expected = subcode === undefined ? [400, 100] : [400, 100, subcode];
    expect(errorOf(await create(template))).toEqual(expected);
  });

  test("twice in one language is refused, in another one accepted", async () => {
    expect((await create({})).body).toEqual({
      id: expect.stringMatching(/^\d{15}$/),
      status: "PENDING",
      category: "UTILITY",
    });
    expect(errorOf(await create({}))).toEqual([400, 100, 2388024]);
    expect((await create({ language: "de" })).status).toBe(200);
  });

  test("with an image takes the handle of a resumable upload in parts", async () => {
    const { graph, emulator } = current();
    const { body: started } = await graph("POST", `${app_id}/uploads?file_length=6&file_type=image/png`);
    const send = async (offset: string, bytes: string) => {
      const headers = { authorization: "OAuth EAAemulator", file_offset: offset };
      const answer = await fetch(`${emulator.url}/v25.0/${started.id}`, {
        method: "POST",
        headers,
        body: bytes,
      });
      return (await answer.json()) as Json; // the shape is asserted
    };
    expect(await send("0", "sam")).toEqual({ id: started.id, file_offset: 3 });
    expect((await send("0", "ple")).error.code).toBe(100);
    expect((await graph("GET", started.id)).body.file_offset).toBe(3);
    const { h } = await send("3", "ple");
    const image = { type: "HEADER", format: "IMAGE", example: { header_handle: [h] } };
    expect((await create({ components: [image, shipped] })).status).toBe(200);
  });
});

describe("the review", () => {
  test("approves after a second, with a webhook", async () => {
    const { body: created } = await create({});
    await current().advance(999);
    expect(await statusOf(created.id)).toBe("PENDING");
    await current().advance(1);
    expect(await statusOf(created.id)).toBe("APPROVED");
    expect(current().changes("message_template_status_update")).toEqual([
      {
        field: "message_template_status_update",
        value: {
          event: "APPROVED",
          reason: "NONE",
          message_template_category: "UTILITY",
          message_template_id: Number(created.id),
          message_template_name: "order_update",
          message_template_language: "en-US",
        },
      },
    ]);
  });

  test("can reject with a reason", async () => {
    const { control, graph, advance } = current();
    await control("PUT", "/review", { outcome: "reject", reason: "TAG_CONTENT_MISMATCH" });
    const { body: created } = await create({});
    await advance(1_000);
    const { body: read } = await graph("GET", `${created.id}?fields=status,rejected_reason,quality_score`);
    expect(read).toMatchObject({ status: "REJECTED", rejected_reason: "TAG_CONTENT_MISMATCH" });
    expect(read.quality_score.score).toBe("UNKNOWN");
    expect(statusChanges()).toEqual([["REJECTED", "TAG_CONTENT_MISMATCH"]]);
  });

  test("can wait for a decision", async () => {
    const { control, advance } = current();
    await control("PUT", "/review", { outcome: "hold" });
    const { body: created } = await create({});
    await advance(dayMs);
    expect(await statusOf(created.id)).toBe("PENDING");
    await control("POST", "/templates", { name: "order_update", outcome: "approve", category: "MARKETING" });
    await advance(0);
    expect(await statusOf(created.id)).toBe("APPROVED");
    const [{ value }] = current().changes("template_category_update");
    expect(value).toMatchObject({ previous_category: "UTILITY", new_category: "MARKETING" });
  });
});

test("a decision replaces the review that was scheduled", async () => {
  const { control, advance } = current();
  const { body: created } = await create({});
  await control("POST", "/templates", { name: "order_update", outcome: "reject" });
  await advance(60_000);
  expect(await statusOf(created.id)).toBe("REJECTED");
});

describe("the life of a template", () => {
  const decide = (decision: object) =>
    current().control("POST", "/templates", { name: "order_update", ...decision });
  const template = { name: "order_update", language: { code: "en_US" } };
  const send = () => current().send({ type: "template", template });

  test("has pauses of 3 and 6 hours, and the third one disables it", async () => {
    const id = await approveTemplate(current(), {});
    for (const hours of [3, 6]) {
      await decide({ outcome: "pause", quality: "RED" });
      expect(errorOf(await send())).toEqual([400, 132015]);
      await current().advance(hours * 3_600_000 - 1);
      expect(await statusOf(id)).toBe("PAUSED");
      await current().advance(1);
      expect(await statusOf(id)).toBe("APPROVED");
    }
    await decide({ outcome: "pause" });
    expect(await statusOf(id)).toBe("DISABLED");
    expect(errorOf(await send())).toEqual([400, 132016]);
    await current().advance(dayMs);
    expect(await statusOf(id)).toBe("DISABLED");
    expect(statusChanges().map(([event]: string[]) => event)).toEqual([
      "APPROVED",
      "PAUSED",
      "REINSTATED",
      "PAUSED",
      "REINSTATED",
      "DISABLED",
    ]);
  });

  test("ends a pause on request", async () => {
    const { graph } = current();
    const id = await approveTemplate(current(), {});
    expect((await graph("POST", `${id}/unpause`, {})).body.success).toBe(false);
    await decide({ outcome: "pause" });
    expect((await graph("POST", `${id}/unpause`, {})).body.success).toBe(true);
    expect((await send()).status).toBe(200);
  });

  test("has edits, which are reviewed, once a day while approved", async () => {
    const { graph, advance } = current();
    const id = await approveTemplate(current(), {});
    const edit = { components: [withVariable] };
    expect(errorOf(await graph("POST", id, { category: "MARKETING" }))).toEqual([400, 100]);
    expect((await graph("POST", id, edit)).body).toEqual({ success: true });
    expect(await statusOf(id)).toBe("PENDING");
    expect(errorOf(await graph("POST", id, edit))).toEqual([400, 100]);
    await advance(1_000);
    expect((await graph("GET", id)).body.components).toEqual([withVariable]);
    expect(errorOf(await graph("POST", id, edit))).toEqual([400, 100]);
    await advance(dayMs);
    expect((await graph("POST", id, edit)).status).toBe(200);
  });

  test("ends with its deletion, in every language or in one, and keeps the name for 30 days", async () => {
    const { graph, advance } = current();
    await approveTemplate(current(), {});
    const german = await approveTemplate(current(), { language: "de" });
    await graph("DELETE", `${path}?name=order_update&hsm_id=${german}`);
    expect((await graph("GET", path)).body.data).toHaveLength(1);
    expect((await graph("DELETE", `${path}?name=order_update`)).body).toEqual({ success: true });
    await advance(0);
    expect(statusChanges().at(-1)).toEqual(["DELETED", null]);
    expect(errorOf(await graph("DELETE", `${path}?name=order_update`))).toEqual([404, 100, 2593002]);
    expect(errorOf(await send())).toEqual([404, 132001]);
    expect(errorOf(await create({}))).toEqual([400, 100, 2388023]);
    await advance(30 * dayMs);
    expect((await create({})).status).toBe(200);
  });
});

describe("the list", () => {
  test("has cursors, filters and fields, and the next page only when there is one", async () => {
    const { graph, emulator } = current();
    for (const name of ["one", "two", "three"]) {
      await create({ name });
    }
    const first = await graph("GET", `${path}?limit=2&fields=name`);
    expect(first.body.data.map(({ name }: Json) => name)).toEqual(["one", "two"]);
    expect(first.body.data[0]).toEqual({ id: expect.stringMatching(/^\d+$/), name: "one" });
    const next = first.body.paging.next.replace(`${emulator.url}/v25.0/`, "");
    const second = await graph("GET", next);
    expect(second.body.data.map(({ name }: Json) => name)).toEqual(["three"]);
    expect(second.body.paging).not.toHaveProperty("next");
    const back = await graph(
      "GET",
      `${path}?limit=2&fields=name&before=${second.body.paging.cursors.before}`,
    );
    expect(back.body.data.map(({ name }: Json) => name)).toEqual(["one", "two"]);
    expect((await graph("GET", `${path}?status=APPROVED`)).body.data).toEqual([]);
    expect((await graph("GET", `${path}?name=tw`)).body.data).toHaveLength(1);
  });
});
