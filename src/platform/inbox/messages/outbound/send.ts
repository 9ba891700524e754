/**
 * Sends messages: finds or creates their contacts and conversations, stores the messages, and enqueues their
 * delivery.
 *
 * Messages of any organizations are sent in one transaction. All of them are read and checked before the
 * first is written, so a message that may not be sent changes nothing, and does not affect the others. The
 * number of statements does not depend on the number of messages; only templates, files, and contacts and
 * conversations that do not exist yet cost statements of their own.
 */
import { Failure } from "../../../../../tools/contract/index.ts";
import { fail } from "../../../../../tools/errors.ts";
import { coalesce } from "../../../../database/sharing/index.ts";
import { keepPlans, together } from "../../../../database/transaction.ts";
import { warnOfHealth } from "../../../account/inboxes/index.ts";
import { countActs, failReached } from "../../../account/rules/index.ts";
import type { KeptFiles } from "../../../content/media/index.ts";
import type { OrganizationChange, Transaction, World } from "../../../foundation/kernel/index.ts";
import { failInsufficient, selectCovered } from "../../../money/wallet/index.ts";
import { readEstimates } from "../charge/index.ts";
import { readAddress } from "./address.ts";
import { requireQuotable, requireSendable } from "./check.ts";
import { type MessageInput, readContent } from "./content.ts";
import { enqueueMessages, holdOf, newMessageId } from "./enqueue.ts";
import { type FrozenMessage, requireAsPlanned } from "./frozen-message.ts";
import { type Address, createMissing, findRecipients, requireRecipient } from "./recipient.ts";
import { requireAllowedMessage, requireUnplanned, toBudgetedAct } from "./rules.ts";

/** A message to send, and its sender. */
export interface Sending {
  readonly input: MessageInput;
  readonly context: Pick<OrganizationChange, "organization" | "actor" | "now">;
  /** The W3C trace context that its delivery continues. Default: the current one. */
  readonly traceparent?: string | undefined;
  /** The message as a plan has frozen it: no other message is sent. */
  readonly planned?: FrozenMessage | undefined;
  /** The files that the plan keeps. */
  readonly files?: KeptFiles;
}

type Sent = Awaited<ReturnType<typeof writeMessages>>[number]["sent"];

type Batch = Pick<OrganizationChange, "tx" | "world">;

/**
 * Sends a message in a transaction that may not keep its plans yet; it keeps them from now on. The actor may
 * be one without a caller, such as a flow. Messages that are sent at the same time in one transaction, for
 * example by several runs of flows, share their statements.
 */
export async function sendMessage(
  input: MessageInput,
  context: OrganizationChange & Pick<Sending, "traceparent">,
): Promise<Sent> {
  const { tx, world, traceparent } = context;
  return sentOf(await sendInTransaction(tx, { world, sending: { input, context, traceparent } }));
}

/** One batch at a time: the prices of each batch are checked against what the batch before has left. */
const sendInTransaction = coalesce(
  async (
    tx: Transaction,
    items: readonly { readonly world: World; readonly sending: Sending }[],
  ): Promise<readonly Outcome[]> => {
    const [first] = items;
    if (!first) {
      return [];
    }
    const sendings = items.map(({ sending }) => sending);
    const batch = { tx, world: first.world };
    const [, outcomes] = await together(keepPlans(tx), sendAll(batch, sendings, { waitsForLocks: true }));
    return outcomes;
  },
  undefined,
  // An error has ended the transaction.
  { runsEachAlone: () => false },
);

/**
 * Sends a message in a transaction that keeps its plans already. Waits while other transactions lock its
 * conversation.
 */
export async function sendAlone(
  input: MessageInput,
  context: OrganizationChange,
  plan: Pick<Sending, "planned" | "files"> = {},
): Promise<Sent> {
  const [outcome] = await sendAll(context, [{ ...plan, input, context }], { waitsForLocks: true });
  return sentOf(outcome);
}

async function sentOf(outcome: Outcome | undefined): Promise<Sent> {
  if (outcome?.sent === undefined) {
    throw (await outcome?.failure?.()) ?? new Error("The message was neither sent nor rejected.");
  }
  return outcome.sent;
}

/**
 * Sends those messages that can be sent now, in a transaction that keeps its plans.
 * @returns the sent messages, in the order of `sendings`. Undefined stands for a message that may not be
 * sent, or whose conversation another transaction has locked: for such a message nothing was written.
 */
export async function sendTogether(
  batch: Batch,
  sendings: readonly Sending[],
): Promise<readonly (Sent | undefined)[]> {
  const outcomes = await sendAll(batch, sendings, { waitsForLocks: false });
  return outcomes.map(({ sent }) => sent);
}

/**
 * Reads and checks a message without sending it, except whether the wallet covers it.
 * @throws Failure if it may not be sent.
 */
export async function readMessage(input: MessageInput, context: OrganizationChange, files: KeptFiles) {
  const outcomes: Outcomes = new Map();
  const sending = { input, context, files };
  const read = await readMessages(context, [sending], { outcomes, waitsForLocks: true });
  const [message] = await eachOf(read, outcomes, (one) => checkMessage(context, one));
  if (!message) {
    throw (
      (await outcomes.get(sending)?.failure?.()) ?? new Error("The message was neither read nor rejected.")
    );
  }
  return { ...message, to: message.address.to.value };
}

interface Outcome {
  readonly sent?: Sent;
  /** Why the message may not be sent. */
  readonly failure?: () => Promise<Failure>;
}

async function sendAll(
  batch: Batch,
  sendings: readonly Sending[],
  { waitsForLocks }: { readonly waitsForLocks: boolean },
): Promise<readonly Outcome[]> {
  const outcomes = new Map<Sending, Outcome>();
  const read = await readMessages(batch, sendings, { outcomes, waitsForLocks });
  const checked = await eachOf(read, outcomes, async (message) => {
    const checkedMessage = await checkMessage(batch, message);
    if (!message.sending.planned) {
      await requireUnplanned(contextOf(batch, message.sending), { ...message, ...checkedMessage });
    }
    return checkedMessage;
  });
  const paid = await requireCovered(batch, checked, outcomes);
  const { allowed, corrected } = await requireBudgets(batch, paid, outcomes);
  const [written] = await together(writeMessages(batch, allowed), corrected);
  for (const { sending, sent } of written) {
    outcomes.set(sending, { sent });
  }
  return sendings.map((sending) => outcomes.get(sending) ?? {});
}

type Outcomes = Map<Sending, Outcome>;

/** Adds the result of a step to each item. An item whose step throws a Failure ends with it. */
async function eachOf<Item extends { readonly sending: Sending }, Added>(
  items: readonly Item[],
  outcomes: Outcomes,
  step: (item: Item) => Promise<Added>,
): Promise<(Item & Added)[]> {
  const attempts = items.map(async (item) => {
    try {
      return [{ ...item, ...(await step(item)) }];
    } catch (error) {
      if (!(error instanceof Failure)) {
        throw error;
      }
      outcomes.set(item.sending, { failure: async () => error });
      return [];
    }
  });
  return (await together(...attempts)).flat();
}

const contextOf = ({ tx, world }: Batch, { context }: Sending) => ({ ...context, tx, db: tx, world });

const pricedOf = ({ organization, to }: Address) => ({ organization, to: to.value });

/** Reads the recipients, prices and contents, in one wait. */
async function readMessages(
  batch: Batch,
  sendings: readonly Sending[],
  { outcomes, waitsForLocks }: { readonly outcomes: Outcomes; readonly waitsForLocks: boolean },
) {
  const { tx } = batch;
  const items = sendings.map((sending) => ({ sending }));
  const addressed = await eachOf(items, outcomes, async ({ sending }) => {
    const { input, context } = sending;
    const { organization } = context;
    const { type, id } = context.actor;
    const acting = type === "flow" || type === "bot" ? id : undefined;
    const address: Address = {
      ...(await readAddress(contextOf(batch, sending), input)),
      organization,
      acting,
    };
    return { address };
  });
  const addresses = addressed.map(({ address }) => address);
  const [readable, recipientOf, estimateFor] = await together(
    eachOf(addressed, outcomes, async ({ sending }) => ({
      contentFor: await readContent(contextOf(batch, sending), sending.input, sending.files),
    })),
    findRecipients(batch, addresses, { waitsForLocks }),
    readEstimates(tx, addresses.map(pricedOf)),
  );
  return readable
    .map((item) => ({
      ...item,
      found: recipientOf(item.address),
      estimate: estimateFor(pricedOf(item.address)),
    }))
    .filter(({ found }) => waitsForLocks || !found.isLocked);
}

type ReadMessage = Awaited<ReturnType<typeof readMessages>>[number];

async function checkMessage(batch: Batch, { sending, address, found, contentFor, estimate }: ReadMessage) {
  const { input, context } = sending;
  const sendingContext = contextOf(batch, sending);
  const recipient = requireRecipient(batch.world, found, address);
  if (input.reply_to !== undefined) {
    await requireQuotable(sendingContext, recipient.conversation, input.reply_to);
  }
  const content = await contentFor(recipient.inbox);
  const { type: sender } = context.actor;
  if (content.sealed_code !== undefined && (sender === "flow" || sender === "bot")) {
    throw fail("code_not_sendable", { sender: `a ${sender}`, param: "template" });
  }
  await requireAllowedMessage(sendingContext, { recipient, address, found, content });
  const { isAllowedNow, charge, isLimited } = await requireSendable(sendingContext, {
    ...recipient,
    content,
    estimate,
  });
  if (sending.planned) {
    const { contact, inbox, conversation } = recipient;
    const to = address.to.value;
    const contact_id = contact?.id ?? null;
    const current = { to, contact_id, inbox_id: inbox.id, content, charge, conversation };
    await requireAsPlanned(batch.tx, sending.planned, current);
  }
  const id = newMessageId(context.now);
  const { organization: organization_id } = context;
  return {
    id,
    recipient,
    content,
    charge,
    hold: holdOf({ organization_id, id, charge, isLimited }),
    warnings: [...(isAllowedNow ? [] : ["outside_service_window"]), ...warnOfHealth(recipient.inbox.health)],
  };
}

type CheckedMessage = ReadMessage & Awaited<ReturnType<typeof checkMessage>>;

/** The messages whose prices the wallets cover. The others end with `insufficient_funds`. */
async function requireCovered(
  { tx, world }: Batch,
  checked: readonly CheckedMessage[],
  outcomes: Outcomes,
): Promise<readonly CheckedMessage[]> {
  const holds = checked.flatMap(({ hold }) => hold ?? []);
  const covered = new Set(await selectCovered(tx, world, holds));
  return checked.filter(({ sending, hold }) => {
    if (hold === undefined || covered.has(hold)) {
      return true;
    }
    const { organization_id: organization, simulated, amount: required } = hold;
    const failure = () => failInsufficient(tx, world, { organization, simulated, required });
    outcomes.set(sending, { failure });
    return false;
  });
}

/**
 * The messages that the budgets allow. The others end with `budget_reached`. From now on the budgets are
 * locked: what comes before must not wait for another transaction that counts on them.
 */
async function requireBudgets(
  { tx }: Batch,
  checked: readonly CheckedMessage[],
  outcomes: Outcomes,
): Promise<{ readonly allowed: readonly CheckedMessage[]; readonly corrected: Promise<void> }> {
  const acts = new Map(checked.map((message) => [toBudgetedAct(message.sending.context, message), message]));
  const { reached, corrected } = await countActs(tx, [...acts.keys()]);
  for (const [act, budget] of reached) {
    const message = acts.get(act);
    if (message) {
      outcomes.set(message.sending, { failure: async () => failReached(budget) });
    }
  }
  return { allowed: [...acts].flatMap(([act, message]) => (reached.has(act) ? [] : message)), corrected };
}

async function writeMessages(batch: Batch, checked: readonly CheckedMessage[]) {
  const complete = await together(
    ...checked.map(async ({ recipient, address, ...message }) => {
      const { conversation, addressee } = await createMissing(
        contextOf(batch, message.sending),
        recipient,
        address,
      );
      return { ...message, inbox: recipient.inbox, to: address.to.value, conversation, addressee };
    }),
  );
  const outgoing = complete.map(({ sending: { input, context, traceparent }, ...message }) => {
    const { type, reply_to } = input;
    const isAnswer = isAnswerIn(message.conversation, input);
    return { ...message, type, reply_to, isAnswer, actor: context.actor, now: context.now, traceparent };
  });
  const stored = await enqueueMessages(batch, outgoing);
  return complete.flatMap(({ sending, inbox, addressee, warnings }, index) => {
    const message = stored[index];
    const shown = {
      channel: inbox.channel,
      contact: addressee,
      ...(warnings.length === 0 ? {} : { warnings }),
    };
    return message ? [{ sending, sent: { ...message, ...shown } }] : [];
  });
}

/**
 * A template to a number or a contact is often sent by a program, and not about what the contact wrote. One
 * that names the conversation, or quotes a message of it, is.
 */
function isAnswerIn({ id }: { readonly id: string }, { type, to, reply_to }: MessageInput): boolean {
  return type !== "template" || to === id || reply_to !== undefined;
}
