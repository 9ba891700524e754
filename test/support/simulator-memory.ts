/** A simulated channel on a clock that tests advance, with its ledger in memory. */
import { createSimulator } from "../../src/adapters/channel/simulator/index.ts";
import type {
  LedgerMessage,
  ReceiptJob,
  SimulatorStore,
} from "../../src/adapters/channel/simulator/store.ts";
import type {
  InboundMessage,
  OutboundMessage,
  Receipt,
  SendOptions,
} from "../../src/ports/channel/channel.ts";

/** A simulator, the receipts and messages that it delivered, and its clock. */
export function createMemorySimulator() {
  let time = Date.parse("2026-03-01T10:00:00.000Z");
  const now = () => new Date(time);
  const due: ReceiptJob[] = [];
  const receipts: Receipt[] = [];
  const inbound: InboundMessage[] = [];
  const store = memoryStore(due);
  const callbacks = {
    onChange: async () => undefined,
    onReceipts: async (delivered: readonly Receipt[]) => {
      receipts.push(...delivered);
    },
    onMessage: async (message: InboundMessage) => {
      inbound.push(message);
      return { message_id: `msg_${message.channel_message_id}`, conversation_id: "conv_1" };
    },
  };
  const wait = async (ms: number, signal: AbortSignal) => {
    signal.throwIfAborted();
    time += ms;
  };
  const simulator = createSimulator({ store, callbacks, now, wait, findRefusal: async () => null });

  /** Advances the clock and delivers, in order, the receipts that come due. */
  async function advanceTime(ms: number): Promise<void> {
    const until = time + ms;
    for (let job = earliest(due, until); job; job = earliest(due, until)) {
      due.splice(due.indexOf(job), 1);
      time = Math.max(time, job.runAt.getTime());
      await simulator.receiptJob.run(job.payload);
    }
    time = until;
  }

  return {
    ...simulator,
    store,
    now,
    advanceTime,
    receipts,
    inbound,
    /** The types of the receipts that were delivered for one message, in order of arrival. */
    receiptTypes: (token: string) =>
      receipts.filter((receipt) => receipt.token === token).map(({ type }) => type),
    send: (message: Partial<OutboundMessage> = {}) =>
      simulator.channel.send(outboundMessage(message), sendOptions),
  };
}

/** Of a lane without a rate. */
export const sendOptions: SendOptions = {
  signal: new AbortController().signal,
  startNow: async () => undefined,
  requireClaim: () => undefined,
};

export function outboundMessage(message: Partial<OutboundMessage> = {}): OutboundMessage {
  return {
    organization_id: "org_1",
    from: "+15550000001",
    to: { kind: "phone", value: "+14155550123" },
    is_bulk: false,
    refusals: 0,
    token: "msg_1",
    content: { type: "text", text: { body: "Hello" } },
    ...message,
  };
}

function earliest(due: readonly ReceiptJob[], until: number): ReceiptJob | undefined {
  return due
    .filter((job) => job.runAt.getTime() <= until)
    .sort((one, other) => one.runAt.getTime() - other.runAt.getTime())[0];
}

function memoryStore(due: ReceiptJob[]): SimulatorStore {
  const faults = new Map<string, unknown>();
  let ledger: LedgerMessage[] = [];
  let count = 0;
  const onPhone = (organization_id: string, phone_number: string) =>
    ledger.filter((one) => one.organization_id === organization_id && one.phone_number === phone_number);
  const isSame = (one: LedgerMessage, other: Pick<LedgerMessage, "organization_id" | "id">) =>
    one.organization_id === other.organization_id && one.id === other.id;

  return {
    newId() {
      count += 1;
      return `sim_${String(count).padStart(6, "0")}`;
    },
    async accept(message, receipts) {
      ledger.push(message);
      due.push(...receipts);
    },
    async receive(message) {
      const known = ledger.find((one) => isSame(one, message));
      if (!known) {
        ledger.push(message);
      }
      return known ?? message;
    },
    async advance(to, from) {
      ledger = ledger.map((one) =>
        isSame(one, to) && from.includes(one.status) ? { ...one, status: to.status } : one,
      );
    },
    async read(organization_id, phone_number, createReceipts) {
      const read = onPhone(organization_id, phone_number).filter(({ status }) => status === "delivered");
      ledger = ledger.map((one) => (read.includes(one) ? { ...one, status: "read" } : one));
      due.push(...createReceipts(read));
      return read.length;
    },
    async find(organization_id, token) {
      const sent = ledger.filter(({ direction }) => direction === "outbound");
      return sent.find((one) => one.organization_id === organization_id && one.token === token) ?? null;
    },
    async list(organization_id, phone_number, limit) {
      const messages = onPhone(organization_id, phone_number).reverse();
      return { messages: messages.slice(0, limit), total: messages.length };
    },
    async faults(organization_id) {
      return faults.get(organization_id) ?? null;
    },
    async replaceFaults(organization_id, replacement) {
      faults.set(organization_id, replacement);
    },
  };
}
