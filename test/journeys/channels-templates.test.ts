/** Templates, broadcasts, opt-out and errors, which are the same on the simulated channel and on WhatsApp. */
import { describe, expect, test } from "vitest";
import { broadcasts } from "../../tools/broadcasts/index.ts";
import { contacts } from "../../tools/contacts.ts";
import { templates } from "../../tools/templates/index.ts";
import { createBroadcastHelpers, phoneNumbers } from "../support/broadcasts.ts";
import { channelNames, useChannel } from "../support/channels.ts";
import { expectFailure } from "../support/expect-failure.ts";

const day = 24 * 3_600_000;

describe.each(channelNames)("on %s", (name) => {
  const channel = useChannel(name);

  test("outside the window an approved template is sent, and its quick reply opens the window", async () => {
    const { app, phone, advance, settle, review, draft, submit, send, sendText, read, newest } = channel();
    const number = "+14155550411";
    const customer = phone(number);
    await customer.write("I need a canoe");
    await advance(day + 60_000);
    if (name === "simulator") {
      const late = (await send(number, { type: "text", text: { body: "It is here." } })).warnings;
      expect(late).toEqual(["outside_service_window"]);
    } else {
      const failure = await expectFailure(sendText(number, "It is here."));
      expect(failure).toMatchObject({ status: 422, code: "outside_service_window" });
    }
    await settle();
    const before = (await customer.shown()).length;
    expect(before).toBe(name === "simulator" ? 1 : 0);

    const template_data = {
      body: "Hello {{1}}, your canoe {{2}} is ready at the lake.",
      buttons: [{ type: "quick_reply" as const, text: "I am coming" }],
    };
    const { id } = await draft({ name: "canoe_ready", template_data });
    await review({ outcome: "reject", reason: "PROMOTIONAL" });
    const first = await submit(id);
    expect(first.submitted.status).toBe("pending");
    expect(first.reviewed).toMatchObject({ status: "rejected", rejection_reason: "PROMOTIONAL" });
    await review({});
    await app.call(templates.update_template, {
      id,
      template_data: { ...template_data, footer: "The Lake" },
    });
    expect((await submit(id)).reviewed).toMatchObject({ status: "approved", is_sendable: true });

    const variables = { "1": "Ada", "2": "K-9" };
    const template = { name: "canoe_ready", language: "en_US", variables };
    const sent = await send(number, { type: "template", template });
    await settle();
    expect((await read(sent)).status).toBe("delivered");
    expect((await customer.shown()).slice(before)).toMatchObject([
      {
        type: "template",
        text: "Hello Ada, your canoe K-9 is ready at the lake.",
        choices: ["I am coming"],
      },
    ]);
    await customer.choose("I am coming");
    expect(await newest()).toMatchObject({
      direction: "inbound",
      type: "interactive",
      reply: { id: "I am coming", title: "I am coming" },
    });
    expect(await sendText(number, "See you soon.")).not.toHaveProperty("warnings");
  });

  test("a broadcast reaches each contact of a cohort, and its metrics count the receipts", async () => {
    const { app, phone, settle, draft, submit } = channel();
    const audience = createBroadcastHelpers(app);
    const numbers = phoneNumbers(3, 415);
    const { cohort } = await audience.createCohort(numbers, { name: "Ann" });
    const { id: template_id } = await draft({
      name: "season",
      template_data: { body: "Hello {{1}}, the season begins." },
    });
    await submit(template_id);
    const { id } = await audience.create({
      name: "Season",
      cohort_id: cohort.id,
      template_id,
      variable_mapping: { "1": "name" },
    });
    expect(await audience.execute(id)).toMatchObject({ recipient_count: 3, excluded: {} });
    await settle();
    await settle();
    for (const number of numbers) {
      expect((await phone(number).shown()).map(({ text }) => text)).toEqual([
        "Hello Ann, the season begins.",
      ]);
    }
    await phone(numbers[0] ?? "").read();
    expect((await app.call(broadcasts.get_broadcast_metrics, { id })).data).toMatchObject({
      pending: 0,
      sent: 3,
      delivered: 3,
      read: 1,
      failed: 0,
    });
    expect((await audience.get(id)).execution_status).toBe("completed");
  });

  test("STOP opts a customer out of marketing, which START ends", async () => {
    const { app, phone, settle, draft, submit, send, newest } = channel();
    const number = "+14155550412";
    const customer = phone(number);
    await customer.write("STOP");
    expect((await customer.shown()).map(({ text }) => text)).toEqual([expect.stringContaining("START")]);
    const find = async () => (await app.call(contacts.list_contacts, { search: number })).data;
    expect(await find()).toMatchObject([{ opted_out: true }]);

    const { id } = await draft({
      name: "sale",
      category: "marketing",
      template_data: { body: "Everything costs less today." },
    });
    await submit(id);
    const offer = { type: "template", template: { name: "sale", language: "en_US" } } as const;
    expect(await expectFailure(send(number, offer))).toMatchObject({ code: "contact_opted_out" });
    await customer.write("START");
    expect(await find()).toMatchObject([{ opted_out: false }]);
    await send(number, offer);
    await settle();
    expect((await newest()).status).toBe("delivered");
  });

  test("a permanent error of the channel fails the message with Meta's code", async () => {
    const { phone, settle, failWith, sendText, read } = channel();
    const number = "+14155550413";
    const customer = phone(number);
    await customer.write("Hello?");
    await failWith(131026);
    const sent = await sendText(number, "Can you read this?");
    await settle();
    await failWith(null);
    expect(await read(sent)).toMatchObject({
      status: "failed",
      error: { code: "undeliverable", channel_code: 131026, retryable: false },
    });
    expect(await customer.shown()).toEqual([]);
  });

  test("a throttled message is sent again, and arrives once", async () => {
    const { phone, advance, failWith, sendText, read } = channel();
    const number = "+14155550414";
    const customer = phone(number);
    await customer.write("Are you there?");
    await failWith(130429);
    const sent = await sendText(number, "Yes.");
    await advance(1_000);
    expect(await read(sent)).toMatchObject({ status: "queued", error: null });
    await failWith(null);
    await advance(60_000);
    await advance(2_000);
    expect((await read(sent)).status).toBe("delivered");
    expect((await customer.shown()).map(({ text }) => text)).toEqual(["Yes."]);
  });
});
