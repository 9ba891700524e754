/**
 * A simulated messaging channel: takes messages as WhatsApp does, tells of them by receipts, and lets
 * a test write, read and make it fail.
 *
 * Its ledger and its due receipts live in a store that it is handed, so that they survive a crash and
 * several instances agree. As on the real channel, a message that is sent twice reaches the phone
 * twice: the ledger shows it. The 24-hour window is not enforced; inject 131047 for that.
 */
import { setTimeout } from "node:timers/promises";
import type { Channel, Outbound, SendResult } from "../../../ports/channel.ts";
import { type ControlParts, createControls, type SimulatorControls } from "./controls.ts";
import { injectedFailure, strikes } from "./faults.ts";
import { acceptReceipts, stepsFrom } from "./receipts.ts";
import { type ControlRoute, createRoutes } from "./routes.ts";
import type { DueReceipt, LedgerMessage } from "./store.ts";

export interface SimulatorParts extends ControlParts {
  /** Waits, and throws when the signal aborts. */
  readonly wait?: (ms: number, signal: AbortSignal) => Promise<void>;
}

export interface Simulator {
  readonly channel: Channel;
  readonly controls: SimulatorControls;
  readonly routes: readonly ControlRoute[];
  /** How the receipts that the store was given are delivered: a job definition. Safe to repeat. */
  readonly receiptJob: {
    readonly name: "simulator.receipt";
    run(receipt: DueReceipt): Promise<undefined>;
  };
}

export function createSimulator({ store, ears, now, wait = sleep }: SimulatorParts): Simulator {
  const controls = createControls({ store, ears, now });

  return {
    channel: {
      send: (message, signal) => send({ store, controls, now, wait }, message, signal),
      async find(token, organization_id) {
        const found = await store.find(organization_id, token);
        return found ? { outcome: "accepted", channel_message_id: found.id } : { outcome: "absent" };
      },
    },
    controls,
    routes: createRoutes(controls),
    receiptJob: {
      name: "simulator.receipt",
      async run({ isTold, ...receipt }) {
        const { organization_id, channel_message_id: id, type } = receipt;
        await store.advance({ organization_id, id, status: type }, stepsFrom[type]);
        if (isTold) {
          await ears.receipts([receipt]);
        }
        return undefined;
      },
    },
  };
}

type SendParts = Required<Omit<SimulatorParts, "ears">> & { readonly controls: SimulatorControls };

async function send(parts: SendParts, message: Outbound, signal: AbortSignal): Promise<SendResult> {
  const { store, controls, now, wait } = parts;
  const faults = await controls.faults(message.organization_id);
  if (faults.accept_delay_ms > 0) {
    await wait(faults.accept_delay_ms, signal);
  }
  signal.throwIfAborted();
  const injected = injectedFailure(faults, message, now());
  if (injected?.kind === "busy") {
    const { retryAfterMs, failure } = injected;
    return { outcome: "busy", retryAfterMs, failure };
  }
  if (injected?.kind === "refused") {
    return { outcome: "refused", failure: injected.failure };
  }
  const taken = accepted(message, store.newId(now()), now());
  await store.accept(taken, acceptReceipts(taken, faults, injected?.failure ?? null));
  if (strikes(faults.lost_answers, message.token, "lost answer")) {
    throw new Error("The simulated channel's answer was lost on the way.");
  }
  return { outcome: "accepted", channel_message_id: taken.id };
}

function accepted(message: Outbound, id: string, at: Date): LedgerMessage {
  return {
    organization_id: message.organization_id,
    id,
    token: message.token,
    phone_number: message.to,
    direction: "outbound",
    content: message.content,
    status: "accepted",
    created_at: at.toISOString(),
  };
}

async function sleep(ms: number, signal: AbortSignal): Promise<void> {
  await setTimeout(ms, undefined, { signal });
}

export { createSimulatorStore } from "./ledger.ts";
export { ControlRefusal } from "./refusal.ts";
export type { ControlRoute } from "./routes.ts";
