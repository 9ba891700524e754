/**
 * A simulated messaging channel: accepts messages like WhatsApp, sends receipts, and has controls for
 * inbound messages, reading and faults.
 *
 * The ledger and the due receipts are in the database, so that they survive a crash and several instances
 * share them. As on the real channel, a message that is sent twice reaches the phone twice and is twice in
 * the ledger. The 24-hour window is not enforced; inject 131047 for that.
 */
import { setTimeout } from "node:timers/promises";
import type { JobDefinition, JobPayload, JobType } from "../../../jobs/job.ts";
import type {
  Channel,
  ChannelCallbacks,
  ChannelFailure,
  OutboundMessage,
  SendOptions,
  SendResult,
} from "../../../ports/channel/channel.ts";
import type { FirstInbox } from "../../../ports/channel/first-inbox.ts";
import type { MessageContent } from "../../../ports/channel/message-content.ts";
import type {
  TemplateAuthority,
  TemplateAuthorityCallbacks,
} from "../../../ports/channel/template-authority.ts";
import type { Clock } from "../../../ports/clock.ts";
import type { Web } from "../../../ports/web.ts";
import { simulatorCapabilities } from "../capabilities.ts";
import type { ControlRoute } from "./control-route.ts";
import { type ControlOptions, createControls, type SimulatorControls } from "./controls.ts";
import { findInjectedFailure, isTriggered } from "./faults.ts";
import { createSimulatorStore, type LedgerParts } from "./ledger.ts";
import { type CheckMedia, createMediaCheck } from "./media.ts";
import { previousStatuses, scheduleAcceptReceipts } from "./receipts.ts";
import { createSimulatorRoutes } from "./routes.ts";
import {
  type DueReceipt,
  type DueReceipts,
  type LedgerMessage,
  receiptJobType,
  receiptsJobType,
} from "./store.ts";
import { createSimulatedAuthority } from "./templates/index.ts";

export interface OpenSimulatorOptions extends LedgerParts {
  readonly callbacks: ChannelCallbacks & TemplateAuthorityCallbacks;
  readonly now: Clock;
  /** Fetches the media of messages. */
  readonly web: Web;
}

export { type ControlRoute, createRouteFactory, parseControlInput } from "./control-route.ts";
export { ControlInputError } from "./input-error.ts";
export { textField } from "./text-field.ts";

export const firstInbox: FirstInbox = {
  name: "Simulated WhatsApp",
  channel: "simulator",
  platform: simulatorCapabilities.platform,
  // Reserved for fiction, so no phone has it.
  phone_number: "+14155550100",
};

/** The simulated channel and the authority that reviews its templates. */
export interface OpenSimulator {
  readonly channel: Channel;
  readonly authority: TemplateAuthority;
  /** The routes that control both. */
  readonly routes: readonly ControlRoute[];
  readonly jobs: readonly JobDefinition[];
}

/** Opens both on the database. */
export function openSimulator(options: OpenSimulatorOptions): OpenSimulator {
  const { callbacks, now, web } = options;
  const { authority, findRefusal, ...reviews } = createSimulatedAuthority(options);
  const store = createSimulatorStore(options);
  const checkMedia = createMediaCheck(web, now);
  const simulator = createSimulator({ store, callbacks, now, findRefusal, checkMedia });
  return {
    channel: simulator.channel,
    authority,
    routes: [...simulator.routes, ...reviews.routes],
    jobs: [simulator.receiptJob, simulator.receiptsJob, ...reviews.jobs],
  };
}

export interface SimulatorOptions extends ControlOptions {
  /** Why a message with a template is refused; null if it is not. */
  readonly findRefusal: (message: OutboundMessage) => Promise<ChannelFailure | null>;
  /** By default the media of messages is not fetched. */
  readonly checkMedia?: CheckMedia;
  /** Waits; throws when the signal aborts. */
  readonly wait?: (ms: number, signal: AbortSignal) => Promise<void>;
}

export interface Simulator {
  readonly channel: Channel;
  readonly controls: SimulatorControls;
  readonly routes: readonly ControlRoute[];
  /** The jobs that deliver the due receipts of the store. Safe to repeat. */
  readonly receiptJob: ReceiptDelivery<DueReceipt>;
  readonly receiptsJob: ReceiptDelivery<DueReceipts>;
}

interface ReceiptDelivery<Due extends JobPayload> extends JobType<Due> {
  readonly slots: number;
  readonly runsWhileSuspended: true;
  run(due: Due): Promise<undefined>;
}

/** All jobs of a lane take the same part of a slot. */
const deliveryOptions = { slots: 1 / 4, runsWhileSuspended: true } as const;

export function createSimulator(options: SimulatorOptions): Simulator {
  const { store, callbacks, now, findRefusal, checkMedia = async () => null, wait = sleep } = options;
  const controls = createControls({ store, callbacks, now });
  const deliver = async (due: readonly DueReceipt[]): Promise<undefined> => {
    await Promise.all(
      due.map(({ organization_id, channel_message_id: id, type }) =>
        store.advance({ organization_id, id, status: type }, previousStatuses[type]),
      ),
    );
    const told = due.flatMap(({ isTold, ...receipt }) => (isTold ? [receipt] : []));
    if (told.length > 0) {
      await callbacks.onReceipts(told);
    }
  };

  return {
    channel: {
      capabilities: simulatorCapabilities,
      send: (message, rest) => send({ store, controls, now, findRefusal, checkMedia, wait }, message, rest),
      async find(token, organization_id) {
        const message = await store.find(organization_id, token);
        return message ? { outcome: "accepted", channel_message_id: message.id } : { outcome: "absent" };
      },
      react: async () => ({ outcome: "accepted" }),
      check: async () => ({ outcome: "working", limits: null }),
    },
    controls,
    routes: createSimulatorRoutes(controls),
    receiptJob: {
      ...receiptJobType,
      ...deliveryOptions,
      run: (receipt) => deliver([receipt]),
    },
    receiptsJob: {
      ...receiptsJobType,
      ...deliveryOptions,
      run: ({ receipts }) => deliver(receipts),
    },
  };
}

type Sender = Required<Omit<SimulatorOptions, "callbacks">> & { readonly controls: SimulatorControls };

async function send(
  { store, controls, now, findRefusal, checkMedia, wait }: Sender,
  message: OutboundMessage,
  { signal, startNow, requireClaim }: SendOptions,
): Promise<SendResult> {
  const faults = await controls.getFaults(message.organization_id);
  if (faults.accept_delay_ms > 0) {
    await wait(faults.accept_delay_ms, signal);
  }
  signal.throwIfAborted();
  const injected = findInjectedFailure(faults, message, now());
  if (injected?.kind === "busy") {
    const { retryAfterMs, failure } = injected;
    // The faults of this kind are limits.
    return { outcome: "busy", retryAfterMs, waitsFor: "limit", failure };
  }
  const refusal = injected?.kind === "refused" ? injected.failure : await findRefusal(message);
  if (refusal) {
    return { outcome: "refused", failure: refusal };
  }
  const rejectedMedia = faults.fetch_media ? await checkMedia(message) : null;
  await startNow();
  requireClaim();
  const ledgerMessage = toLedgerMessage(message, store.newId(now()), now());
  const accepted = { failure: injected?.failure ?? rejectedMedia, isBulk: message.is_bulk };
  await store.accept(ledgerMessage, scheduleAcceptReceipts(ledgerMessage, faults, accepted));
  if (isTriggered(faults.lost_answers, message.token, "lost answer")) {
    throw new Error("The simulated channel's answer was lost on the way.");
  }
  return { outcome: "accepted", channel_message_id: ledgerMessage.id };
}

function toLedgerMessage(message: OutboundMessage, id: string, at: Date): LedgerMessage {
  return {
    organization_id: message.organization_id,
    id,
    token: message.token,
    phone_number: message.to.value,
    direction: "outbound",
    content: { ...withoutFile(message.content), ...(message.reply_to ? { reply_to: message.reply_to } : {}) },
    status: "accepted",
    created_at: at.toISOString(),
  };
}

/** The phone shows the address of a file. */
function withoutFile(content: MessageContent): MessageContent {
  if ("media" in content) {
    const { file: _, ...media } = content.media;
    return { ...content, media };
  }
  if (content.type === "interactive" && content.interactive.header_media) {
    const { file: _, ...header_media } = content.interactive.header_media;
    return { ...content, interactive: { ...content.interactive, header_media } };
  }
  if (content.type !== "template") {
    return content;
  }
  // The phone shows the texts, which hide the code of an authentication template.
  const { header, cards, code: _, ...shown } = content.template;
  const template = {
    ...shown,
    header: header && "media" in header ? { ...header, media: withoutOwnFile(header.media) } : header,
    ...(cards && {
      cards: cards.map((card) => ({
        ...card,
        header: { ...card.header, media: withoutOwnFile(card.header.media) },
      })),
    }),
  };
  return { ...content, template };
}

function withoutOwnFile<Media extends { readonly file?: unknown }>({ file: _, ...media }: Media) {
  return media;
}

async function sleep(ms: number, signal: AbortSignal): Promise<void> {
  await setTimeout(ms, undefined, { signal });
}
