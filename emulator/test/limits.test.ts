/**
 * The WhatsApp emulator's limits and injected faults: windows, throughput, the pair limit,
 * lost and late answers.
 */
import { describe, expect, test } from "vitest";
import { meanwhile } from "../../test/support/meanwhile.ts";
import {
  approveTemplate,
  customer,
  type EmulatorTest,
  errorOf,
  type Json,
  phone_number_id,
  startAt,
  useEmulator,
} from "../../test/support/whatsapp-emulator.ts";

const current = useEmulator();

/** Messages to as many customers, so that the pair limit does not matter. */
async function sendMany({ send }: EmulatorTest, count: number, first = 0): Promise<number[]> {
  const numbers = Array.from({ length: count }, (_, index) => String(14155550200 + first + index));
  const answers = await Promise.all(numbers.map((to) => send({ to, text: { body: "Hello" } })));
  return answers.map(({ status, body }) => (status === 200 ? 200 : body.error.code));
}

const countOf = (codes: readonly number[], code: number) => codes.filter((one) => one === code).length;
const statusesOf = ({ statuses }: EmulatorTest) => statuses().map(({ status }: Json) => status);

describe("the 24-hour window", () => {
  test("is closed at first: free text is accepted, and then fails with 131047", async () => {
    const { send, advance, statuses } = current();
    expect((await send()).status).toBe(200);
    await advance(1_000);
    expect(statuses()).toEqual([expect.objectContaining({ status: "failed", recipient_id: customer })]);
    expect(statuses()[0].errors[0]).toMatchObject({ code: 131047, title: "Re-engagement message" });
  });

  test("opens with a message of the customer, for 24 hours", async () => {
    const emulator = current();
    await emulator.control("POST", "/inbound", { from: customer, text: "Hi" });
    await emulator.advance(24 * 3_600_000 - 1);
    await emulator.send();
    await emulator.advance(10_000);
    expect(statusesOf(emulator)).toEqual(["sent", "delivered"]);
    await emulator.send();
    await emulator.advance(10_000);
    expect(statusesOf(emulator)).toEqual(["sent", "delivered", "failed"]);
  });

  test("does not matter for templates", async () => {
    const emulator = current();
    await approveTemplate(emulator, {});
    const template = { name: "order_update", language: { code: "en_US" } };
    const { body } = await emulator.send({ type: "template", template });
    await emulator.advance(1_000);
    expect(body.messages[0].message_status).toBe("accepted");
    expect(statusesOf(emulator)).toEqual(["sent", "delivered"]);
  });
});

describe("the throughput", () => {
  test("is 80 messages in any second; the rest is refused with 130429", async () => {
    const emulator = current();
    const first = await sendMany(emulator, 100);
    expect([countOf(first, 200), countOf(first, 130429)]).toEqual([80, 20]);
    await emulator.advance(999);
    expect(await sendMany(emulator, 1)).toEqual([130429]);
    await emulator.advance(1);
    expect(await sendMany(emulator, 1)).toEqual([200]);
    const { body } = await emulator.control("GET", "/messages/per-second");
    expect(body).toEqual({
      max: 80,
      data: [
        { second: startAt / 1000, messages: 80 },
        { second: startAt / 1000 + 1, messages: 1 },
      ],
    });
  });

  test("can be throttled further, and then has status 429 and Retry-After", async () => {
    const { control, send } = current();
    await control("PUT", "/faults", { messages_per_second: 1, throttle_status: 429 });
    await send();
    const refused = await send({ to: "14155550199", text: { body: "Hello" } });
    expect(errorOf(refused)).toEqual([429, 130429]);
    expect(refused.headers.get("retry-after")).toBe("1");
    expect(refused.headers.get("x-business-use-case-usage")).toContain("estimated_time_to_regain_access");
  });
});

describe("the pair limit", () => {
  test("is one message in 6 seconds to one customer; a burst borrows from the time after it", async () => {
    const { send, advance } = current();
    for (let count = 0; count < 3; count += 1) {
      expect((await send()).status).toBe(200);
    }
    await advance(17_999);
    expect(errorOf(await send())).toEqual([400, 131056]);
    await advance(1);
    expect((await send()).status).toBe(200);
  });

  test("allows 45 messages in a burst", async () => {
    const { send } = current();
    for (let count = 0; count < 45; count += 1) {
      expect((await send()).status).toBe(200);
    }
    expect(errorOf(await send())).toEqual([400, 131056]);
  });

  test("can be switched off", async () => {
    const { send, control, advance } = current();
    await control("PUT", "/faults", { pair_limit: false });
    await send();
    await advance(6_000);
    await Promise.all([send(), send(), send()]);
    await advance(6_000);
    expect((await send()).status).toBe(200);
  });
});

describe("recipients", () => {
  const userId = "US.13491208655302741918";

  test("a user id in recipient gets the message, and statuses have no number", async () => {
    const emulator = current();
    await emulator.control("POST", "/inbound", { user_id: userId, text: "Hi" });
    const answer = await emulator.send({ to: undefined, recipient: userId, text: { body: "Hello" } });
    expect(answer.body.contacts).toEqual([{ input: userId, user_id: userId }]);
    await emulator.advance(1_000);
    expect(emulator.statuses()[0]).toMatchObject({ status: "sent", recipient_user_id: userId });
    expect(emulator.statuses()[0]).not.toHaveProperty("recipient_id");
  });

  test("a user id in to is accepted, and nothing comes of it", async () => {
    const emulator = current();
    await emulator.control("POST", "/inbound", { user_id: userId, text: "Hi" });
    expect((await emulator.send({ to: userId, text: { body: "Hello" } })).status).toBe(200);
    await emulator.advance(60_000);
    expect(emulator.statuses()).toEqual([]);
    const { body } = await emulator.control("GET", "/messages");
    expect(body.data[0]).toMatchObject({ to: userId, is_lost: true });
  });

  test("an authentication template needs a number", async () => {
    const emulator = current();
    await approveTemplate(emulator, {
      name: "code",
      category: "AUTHENTICATION",
      components: [{ type: "BODY" }, { type: "BUTTONS", buttons: [{ type: "OTP", otp_type: "COPY_CODE" }] }],
    });
    const template = { name: "code", language: { code: "en_US" } };
    const answer = await emulator.send({ to: undefined, recipient: userId, type: "template", template });
    expect(errorOf(answer)).toEqual([400, 131062]);
  });
});

describe("injected faults", () => {
  test("a share of messages fails, exactly and repeatably", async () => {
    const emulator = current();
    await emulator.control("PUT", "/faults", { failures: [{ code: 131016, share: 0.25 }] });
    const codes = await sendMany(emulator, 20);
    expect([countOf(codes, 200), countOf(codes, 131016)]).toEqual([15, 5]);
  });

  test("a failure can be for one recipient and a number of times, by webhook", async () => {
    const emulator = current();
    await emulator.control("POST", "/inbound", { from: customer, text: "Hi" });
    const failure = { code: 131049, to: `+${customer}`, times: 1 };
    await emulator.control("PUT", "/faults", { failures: [failure] });
    await emulator.send();
    await emulator.send();
    await emulator.advance(1_000);
    expect(emulator.statuses().map(({ status, errors }: Json) => errors?.[0].code ?? status)).toEqual(
      expect.arrayContaining([131049, "sent", "delivered"]),
    );
    expect(emulator.statuses()).toHaveLength(3);
  });

  test("a code that usually comes by webhook can be in the answer", async () => {
    const { control, send } = current();
    await control("PUT", "/faults", { failures: [{ code: 131026, by: "answer" }] });
    expect(errorOf(await send())).toEqual([400, 131026]);
  });

  test("an accepted message is not answered: its statuses come all the same", async () => {
    const emulator = current();
    await emulator.control("POST", "/inbound", { from: customer, text: "Hi" });
    await emulator.control("PUT", "/faults", { lost_answers: 0.5 });
    const message = { text: { body: "Hello" }, biz_opaque_callback_data: "ours" };
    const answers = await Promise.allSettled([emulator.send(message), emulator.send(message)]);
    expect(answers.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
    await emulator.advance(1_000);
    const sent = emulator.statuses().filter(({ status }: Json) => status === "sent");
    expect(sent.map((one: Json) => one.biz_opaque_callback_data)).toEqual(["ours", "ours"]);
  });

  test("an answer that never comes leaves the client waiting", async () => {
    const { control, emulator } = current();
    await control("PUT", "/faults", { timeouts: 1 });
    const abort = new AbortController();
    const url = `${emulator.url}/v25.0/${phone_number_id}/messages`;
    const pending = fetch(url, {
      method: "POST",
      headers: { authorization: "Bearer EAAemulator" },
      body: JSON.stringify({ messaging_product: "whatsapp", to: customer, text: { body: "Hello" } }),
      signal: abort.signal,
    });
    await meanwhile(expect(pending).rejects.toThrow("aborted"), async () => {
      await expect.poll(async () => (await control("GET", "/messages")).body.total).toBe(1);
      abort.abort();
    });
  });

  test("webhooks come late, twice, or after later ones", async () => {
    const emulator = current();
    const put = (webhooks: object) => emulator.control("PUT", "/faults", { webhooks });
    const write = (text: string) => emulator.control("POST", "/inbound", { from: customer, text });
    const texts = () => emulator.changes("messages").map(({ value }: Json) => value.messages[0].text.body);
    await put({ delay_ms: 5_000 });
    await write("late");
    await emulator.advance(4_999);
    expect(texts()).toEqual([]);
    await emulator.advance(1);
    expect(texts()).toEqual(["late"]);
    await put({ doubled: 1 });
    await write("twice");
    await emulator.emulator.idle();
    expect(texts()).toEqual(["late", "twice", "twice"]);
    await put({ reordered: 0.5 });
    for (const text of ["first", "second", "third"]) {
      await write(text);
      await emulator.emulator.idle();
    }
    await emulator.advance(1_000);
    expect(texts().slice(3)).toEqual(["first", "third", "second"]);
  });

  test("webhooks of a time can come in one batch", async () => {
    const emulator = current();
    await emulator.control("PUT", "/faults", { webhooks: { batch_ms: 500 } });
    for (const text of ["one", "two"]) {
      await emulator.control("POST", "/inbound", { from: customer, text });
    }
    await emulator.advance(500);
    expect(emulator.received).toHaveLength(1);
    expect(emulator.changes("messages")).toHaveLength(2);
  });

  test("a message stays sent", async () => {
    const emulator = current();
    await emulator.control("POST", "/inbound", { from: customer, text: "Hi" });
    await emulator.control("PUT", "/faults", { undelivered: 1 });
    await emulator.send();
    await emulator.advance(60_000);
    expect(statusesOf(emulator)).toEqual(["sent"]);
  });

  test("a disconnected number does not send", async () => {
    const { control, send } = current();
    await control("POST", `/phone-numbers/${phone_number_id}`, { status: "DISCONNECTED" });
    expect(errorOf(await send())).toEqual([400, 133010]);
  });

  test("an unknown fault is an error that names it", async () => {
    const { status, body } = await current().control("PUT", "/faults", { gremlins: 1 });
    expect([status, body.error.message]).toEqual([400, expect.stringContaining("gremlins")]);
  });

  test("a reset removes faults, messages, the callback address and retries", async () => {
    const emulator = current();
    emulator.status = 503;
    await emulator.control("POST", "/inbound", { from: customer, text: "Hi" });
    await emulator.emulator.idle();
    emulator.status = 200;
    await emulator.control("PUT", "/faults", { failures: [{ code: 131016 }] });
    await emulator.control("POST", "/reset", {});
    expect((await emulator.send()).status).toBe(200);
    await emulator.advance(1_000);
    expect(emulator.received).toEqual([]);
  });
});
