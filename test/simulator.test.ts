/** The simulated channel sends receipts like WhatsApp, and fails as configured. */
import { describe, expect, test } from "vitest";
import { createMemorySimulator, outboundMessage, sendOptions } from "./support/simulator-memory.ts";

const org = "org_1";
const phone = "+14155550123";

describe("an accepted message", () => {
  test("is sent at once, delivered 150 ms later, and read only when the phone reads", async () => {
    const { send, advanceTime, receipts, controls } = createMemorySimulator();
    const sent = await send();
    await advanceTime(149);
    expect(receipts.map(({ type }) => type)).toEqual(["sent"]);
    await advanceTime(86_400_000);
    expect(receipts).toMatchObject([
      { type: "sent", occurred_at: "2026-03-01T10:00:00.000Z", token: "msg_1", failure: null, ...idOf(sent) },
      {
        type: "delivered",
        occurred_at: "2026-03-01T10:00:00.150Z",
        token: "msg_1",
        failure: null,
        ...idOf(sent),
      },
    ]);
    expect(await controls.readMessages(org, phone)).toBe(1);
    await advanceTime(0);
    expect(receipts.map(({ type }) => type)).toEqual(["sent", "delivered", "read"]);
    expect(await controls.readMessages(org, phone)).toBe(0);
  });

  test("may be media or interactive, and is listed for the phone it was sent to, newest first", async () => {
    const { send, controls, advanceTime } = createMemorySimulator();
    const media = { url: "https://example.com/a.png", caption: "A", file_name: null };
    await send({ token: "file", content: { type: "image", media } });
    await send({ token: "choice", content: { type: "interactive", interactive: { body: "Which?" } } });
    await send({ token: "elsewhere", to: { kind: "phone", value: "+14155550124" } });
    await advanceTime(200);
    const { messages, total } = await controls.listMessages(org, phone, { limit: 1 });
    expect(total).toBe(2);
    expect(messages).toMatchObject([
      { token: "choice", status: "delivered", content: { type: "interactive" } },
    ]);
    expect(await controls.listMessages("org_2", phone)).toEqual({ messages: [], total: 0 });
  });

  test("is found by its token; an unknown one, or another tenant's, is absent", async () => {
    const { send, channel } = createMemorySimulator();
    const sent = await send();
    expect(await channel.find("msg_1", org)).toEqual(sent);
    expect(await channel.find("msg_2", org)).toEqual({ outcome: "absent" });
    expect(await channel.find("msg_1", "org_2")).toEqual({ outcome: "absent" });
  });

  test("reaches the phone twice when it is sent twice", async () => {
    const { send, channel, controls } = createMemorySimulator();
    const first = await send();
    await send();
    expect((await controls.listMessages(org, phone)).messages.map(({ token }) => token)).toEqual([
      "msg_1",
      "msg_1",
    ]);
    expect(await channel.find("msg_1", org)).toEqual(first);
  });

  test("keeps its status when a receipt is delivered again after a crash", async () => {
    const { send, advanceTime, controls, receiptJob, receipts } = createMemorySimulator();
    await send();
    await advanceTime(200);
    await controls.readMessages(org, phone);
    for (const receipt of [...receipts]) {
      await receiptJob.run({ ...receipt, isTold: true });
    }
    expect((await controls.listMessages(org, phone)).messages).toMatchObject([{ status: "read" }]);
  });
});

describe("a fault", () => {
  test("lost receipts: the phone has the message, and no receipt is sent", async () => {
    const { send, advanceTime, controls, receipts } = createMemorySimulator();
    await controls.replaceFaults(org, { lost_receipts: 1 });
    await send();
    await advanceTime(5_000);
    expect((await controls.listMessages(org, phone)).messages).toMatchObject([{ status: "delivered" }]);
    expect(await controls.readMessages(org, phone)).toBe(1);
    await advanceTime(5_000);
    expect(receipts).toEqual([]);
  });

  test("doubled receipts: each is sent twice", async () => {
    const { send, advanceTime, controls, receiptTypes } = createMemorySimulator();
    await controls.replaceFaults(org, { doubled_receipts: 1 });
    await send();
    await advanceTime(5_000);
    await controls.readMessages(org, phone);
    await advanceTime(5_000);
    expect(receiptTypes("msg_1")).toEqual(["sent", "sent", "delivered", "delivered", "read", "read"]);
  });

  test("swapped receipts: delivered comes before sent, each with its own time", async () => {
    const { send, advanceTime, controls, receipts } = createMemorySimulator();
    await controls.replaceFaults(org, { swapped_receipts: 1 });
    await send();
    await advanceTime(5_000);
    expect(receipts).toMatchObject([
      { type: "delivered", occurred_at: "2026-03-01T10:00:00.150Z" },
      { type: "sent", occurred_at: "2026-03-01T10:00:00.000Z" },
    ]);
  });

  test("swapped receipts: read comes before delivered when the phone reads at once", async () => {
    const { send, advanceTime, controls, receiptTypes } = createMemorySimulator();
    await controls.replaceFaults(org, { swapped_receipts: 1 });
    await send();
    await advanceTime(200);
    expect(await controls.readMessages(org, phone)).toBe(1);
    await advanceTime(5_000);
    expect(receiptTypes("msg_1")).toEqual(["read", "delivered", "sent"]);
  });

  test("lost answers: send throws, but the message is accepted, found and delivered", async () => {
    const { send, advanceTime, channel, controls, receiptTypes } = createMemorySimulator();
    await controls.replaceFaults(org, { lost_answers: 1 });
    await expect(send()).rejects.toThrow("lost");
    expect(await channel.find("msg_1", org)).toMatchObject({ outcome: "accepted" });
    await advanceTime(200);
    expect(receiptTypes("msg_1")).toEqual(["sent", "delivered"]);
  });

  test("accept delay: send takes that long", async () => {
    const { controls, now, send } = createMemorySimulator();
    await controls.replaceFaults(org, { accept_delay_ms: 3_000 });
    await send();
    expect(now().toISOString()).toBe("2026-03-01T10:00:03.000Z");
  });

  test.each([0, 3_000])("an aborted send is not accepted, with %i ms of delay", async (accept_delay_ms) => {
    const { channel, controls } = createMemorySimulator();
    await controls.replaceFaults(org, { accept_delay_ms });
    await expect(
      channel.send(outboundMessage(), { ...sendOptions, signal: AbortSignal.abort() }),
    ).rejects.toThrow("aborted");
    expect(await channel.find("msg_1", org)).toEqual({ outcome: "absent" });
  });

  test("receipt delay: delivered comes that much later", async () => {
    const { send, advanceTime, controls, receiptTypes } = createMemorySimulator();
    await controls.replaceFaults(org, { receipt_delay_ms: 60_000 });
    await send();
    await advanceTime(59_999);
    expect(receiptTypes("msg_1")).toEqual(["sent"]);
    await advanceTime(1);
    expect(receiptTypes("msg_1")).toEqual(["sent", "delivered"]);
  });

  test.each([131026, 131047, 131049, 131053, 130472, 131050])(
    "%i: accepted, then failed, never sent",
    async (code) => {
      const { send, advanceTime, controls, receipts } = createMemorySimulator();
      await controls.replaceFaults(org, { failures: [{ code }] });
      expect(await send()).toMatchObject({ outcome: "accepted" });
      await advanceTime(5_000);
      expect(receipts).toMatchObject([{ type: "failed", failure: { channel_code: code } }]);
      expect((await controls.listMessages(org, phone)).messages).toMatchObject([{ status: "failed" }]);
    },
  );

  test.each([131051, 131048, 999_999])("%i: rejected, and never on the phone", async (code) => {
    const { send, controls } = createMemorySimulator();
    await controls.replaceFaults(org, { failures: [{ code }] });
    expect(await send()).toMatchObject({ outcome: "refused", failure: { channel_code: code } });
    expect((await controls.listMessages(org, phone)).total).toBe(0);
  });

  test.each([
    [4, 60_000],
    [80007, 60_000],
    [130429, 1_000],
    [131056, 6_000],
  ])("%i: busy, not accepted", async (code, retryAfterMs) => {
    const { send, controls } = createMemorySimulator();
    await controls.replaceFaults(org, { failures: [{ code }] });
    const busy = await send();
    expect(busy).toMatchObject({ outcome: "busy", retryAfterMs, failure: { channel_code: code } });
    expect((await controls.listMessages(org, phone)).total).toBe(0);
  });

  test("a fault with share 0.5 accepts a message on a later attempt", async () => {
    const { send, advanceTime, controls } = createMemorySimulator();
    await controls.replaceFaults(org, { failures: [{ code: 130429, share: 0.5 }] });
    const outcomes = new Set<string>();
    for (let second = 0; second < 40; second += 1) {
      outcomes.add((await send()).outcome);
      await advanceTime(1_000);
    }
    expect([...outcomes].sort()).toEqual(["accepted", "busy"]);
  });

  test("can be limited to one number, and applies to one organization", async () => {
    const { send, controls } = createMemorySimulator();
    await controls.replaceFaults(org, { failures: [{ code: 131051, to: "14155550123" }] });
    expect(await send()).toMatchObject({ outcome: "refused" });
    expect(await send({ to: { kind: "phone", value: "+14155550124" } })).toMatchObject({
      outcome: "accepted",
    });
    expect(await send({ organization_id: "org_2" })).toMatchObject({ outcome: "accepted" });
  });

  test("affects its share of messages, the same ones each time", async () => {
    const findRejected = async () => {
      const { send, controls } = createMemorySimulator();
      await controls.replaceFaults(org, { failures: [{ code: 131051, share: 0.3 }] });
      const tokens = Array.from({ length: 1_000 }, (_, index) => `msg_${index}`);
      const outcomes = await Promise.all(tokens.map((token) => send({ token })));
      return tokens.filter((_, index) => outcomes[index]?.outcome === "refused");
    };
    const rejected = await findRejected();
    expect(rejected).toHaveLength(301);
    expect(await findRejected()).toEqual(rejected);
  });
});

describe("an inbound message", () => {
  const content = { type: "text", text: { body: "Hi" } } as const;

  test("is passed on and listed on the phone", async () => {
    const { controls, inbound } = createMemorySimulator();
    const result = await controls.receiveInbound({
      organization_id: org,
      from: { phone },
      name: "Ana",
      content,
    });
    expect(result).toMatchObject({
      message_id: `msg_${result.channel_message_id}`,
      conversation_id: "conv_1",
    });
    expect(inbound).toMatchObject([
      { from: { phone }, to: null, name: "Ana", occurred_at: "2026-03-01T10:00:00.000Z", content },
    ]);
    expect((await controls.listMessages(org, phone)).messages).toMatchObject([
      { direction: "inbound", status: "received" },
    ]);
  });

  test("received twice is stored once, with its first timestamp", async () => {
    const { controls, inbound, advanceTime } = createMemorySimulator();
    const message = { organization_id: org, from: { phone }, content, channel_message_id: "wamid.1" };
    const first = await controls.receiveInbound(message);
    await advanceTime(1_000);
    expect(await controls.receiveInbound(message)).toEqual(first);
    expect(inbound[1]).toEqual(inbound[0]);
    expect((await controls.listMessages(org, phone)).total).toBe(1);
    const other = { ...message, from: { phone: "+14155550124" } };
    await expect(controls.receiveInbound(other)).rejects.toMatchObject({ field: "channel_message_id" });
  });
});

function idOf(sent: object): object {
  return { channel_message_id: Reflect.get(sent, "channel_message_id") };
}
