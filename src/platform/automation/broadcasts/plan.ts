/** Plans the execution of a broadcast: whom it would reach with which text, and what it costs. */
import { createHash } from "node:crypto";
import { z } from "zod";
import type { ExclusionReason } from "../../../../tools/broadcasts/index.ts";
import { Failure } from "../../../../tools/contract/index.ts";
import { fail } from "../../../../tools/errors.ts";
import { maxPlanTargets } from "../../../../tools/plans.ts";
import { nullable, rowsOf, typed } from "../../../database/query/index.ts";
import { capabilitiesOf, getOrDefaultInbox } from "../../account/inboxes/index.ts";
import type { KeptFiles } from "../../content/media/index.ts";
import { createComposer, invalidValueCodes, textOfTemplate } from "../../content/templates/index.ts";
import { createLink, removeSignature } from "../../content/uploads/index.ts";
import type { OrganizationChange } from "../../foundation/kernel/index.ts";
import { failInsufficient, paymentOf, readAvailable } from "../../money/wallet/index.ts";
import { type BroadcastRow, changeBroadcast, getBroadcast, lockBroadcast, requireState } from "./find.ts";
import { broadcastContent, type PreparedContent, prepareContent, requireReadyCohort } from "./prepare.ts";
import {
  executeBroadcast,
  freezeCandidate,
  type PlannedRecipient,
  readBroadcastRates,
  selectCandidates,
  startable,
} from "./sending/index.ts";

const candidateColumns = {
  contact_id: "text",
  name: nullable("text"),
  to: nullable("text"),
  country: nullable("text"),
  price: nullable("bigint"),
  variables: typed<Readonly<Record<string, string>>>("jsonb"),
  reason: typed<ExclusionReason | null>("text"),
} as const;

const Frozen = z.object({
  /** The hash of what the broadcast sends. */
  content: z.string(),
  /** The time for which the conditions of the cohort are evaluated. */
  now: z.iso.datetime().optional(),
  currency: z.string().optional(),
});

interface ExecutionInput {
  readonly id: string;
}

interface EarlierPlan {
  readonly files: KeptFiles;
  /** What the call has frozen when it was first planned. */
  readonly frozen?: unknown;
}

/**
 * All recipients have to be paid, whatever `allow_partial` says: who would be left out is not known before.
 * @throws Failure if the broadcast can't be executed now.
 */
export async function planExecution(
  input: ExecutionInput,
  context: OrganizationChange,
  earlier: EarlierPlan,
) {
  const basis = await readBasis(input, context, earlier);
  const { broadcast, prepared, inbox, rates, frozen } = basis;
  const first = await readTargets(context, basis, { limit: maxPlanTargets + 1 });
  const isLarge = first.length > maxPlanTargets;
  const { count, recipients, amount } = isLarge ? await countCandidates(context, basis) : sumUp(first);
  await requireAffordable(context, basis, amount);
  const media = mediaOf(prepared);
  return {
    summary: `Execute the broadcast ${broadcast.name} from ${inbox.phone_number}`,
    targets: isLarge ? [] : first,
    ...(isLarge && { remaining: { total: count, recipients } }),
    addresses: media && media.upload === undefined ? [media.url] : [],
    price: amount !== null && recipients > 0 ? { amount, currency: rates.currency } : null,
    warnings: [],
    subjects: [],
    frozen,
  };
}

interface TargetRequest extends EarlierPlan {
  /** The id of the last contact of the batch before; "" for the first batch. */
  readonly after: string;
  readonly limit: number;
}

/** The next recipients of a large plan. @throws Failure if the broadcast can't be executed any more. */
export async function planRecipients(
  input: ExecutionInput,
  context: OrganizationChange,
  request: TargetRequest,
) {
  const basis = await readBasis(input, context, request);
  const targets = await readTargets(context, basis, request);
  const { amount } = sumUp(targets);
  requirePrice(basis, amount);
  const last = targets.length === request.limit ? targets.at(-1) : undefined;
  return { targets, next: last?.contact_id ?? null, amount };
}

interface PlannedExecution {
  readonly frozen: unknown;
  readonly files: KeptFiles;
  readonly price: { readonly currency: string } | null;
  readonly targets: AsyncIterable<readonly PlannedRecipient[]>;
}

/** Executes the broadcast for the recipients of the plan. @throws Failure `plan_changed`. */
export async function executePlanned(
  { id }: ExecutionInput,
  context: OrganizationChange,
  { frozen, files, price, targets: planned }: PlannedExecution,
): Promise<BroadcastRow> {
  const { tx, world, organization, now } = context;
  const broadcast = await lockBroadcast(tx, organization, { id, allowed: startable, action: "executed" });
  const prepared = await prepareContent(context, organization, broadcastContent(broadcast));
  if (Frozen.parse(frozen).content !== contentHash(broadcast, prepared)) {
    throw fail("plan_changed", { reason: "the broadcast or its template was changed meanwhile" });
  }
  const key = files[mediaOf(prepared)?.url ?? ""];
  const header_media_url = key && removeSignature(createLink(world, key, now).url);
  const sent = key ? await changeBroadcast(tx, broadcast, { header_media_url, now }) : broadcast;
  const executed = await executeBroadcast({ ...context, broadcast: sent }, { allowPartial: false, planned });
  if (price && executed.currency !== null && executed.currency !== price.currency) {
    throw fail("plan_changed", { reason: "the price is in another currency" });
  }
  return executed;
}

/** Everything that a broadcast sends, whatever its cohort is. */
function contentHash(
  { cohort_id, header_media_url, inbox_id }: BroadcastRow,
  { template, mapping }: PreparedContent,
): string {
  const { id, name, language, version } = template;
  const content = [cohort_id, header_media_url, inbox_id, { id, name, language, version }, mapping];
  return createHash("sha256").update(JSON.stringify(content)).digest("base64url");
}

function mediaOf({ header }: PreparedContent) {
  return header && "media" in header ? header.media : undefined;
}

type Basis = Awaited<ReturnType<typeof readBasis>>;

/** @throws Failure `plan_not_prepared` if the broadcast differs from what was planned earlier. */
async function readBasis(
  { id }: ExecutionInput,
  context: OrganizationChange,
  { files, frozen: before }: EarlierPlan,
) {
  const { tx, world, organization, now } = context;
  const broadcast = await getBroadcast(tx, organization, id);
  requireState(broadcast, { allowed: startable, action: "planned" });
  const prepared = await prepareContent(context, organization, broadcastContent(broadcast), { files });
  const inbox = await getOrDefaultInbox(tx, organization, prepared.template.inbox_id);
  const payment = paymentOf(world, inbox);
  const rates = await readBroadcastRates(tx, organization, payment);
  const { currency } = rates;
  const content = contentHash(broadcast, prepared);
  const frozen = before === undefined ? { content, now: now.toISOString(), currency } : Frozen.parse(before);
  if (frozen.content !== content || frozen.currency !== currency) {
    throw fail("plan_not_prepared", { reason: "the broadcast or its template was changed meanwhile" });
  }
  return { broadcast, prepared, inbox, payment, rates, files, frozen };
}

async function selectionOf({ tx, world, organization, now }: OrganizationChange, basis: Basis) {
  const { broadcast, prepared, inbox, rates, frozen } = basis;
  const { template, mapping } = prepared;
  return {
    organization,
    cohort: await requireReadyCohort(tx, organization, broadcast.cohort_id),
    mapping,
    addresses: capabilitiesOf(world, inbox).addresses,
    rates,
    category: template.version.category,
    now: frozen.now === undefined ? now : new Date(frozen.now),
  };
}

async function readTargets(
  context: OrganizationChange,
  basis: Basis,
  { after = "", limit }: { readonly after?: string; readonly limit: number },
) {
  const { tx, world, organization } = context;
  const { broadcast, prepared, inbox, files } = basis;
  const selection = { ...(await selectionOf(context, basis)), part: { after, limit } };
  const { rows } = await rowsOf(candidateColumns)`
    select candidate.*, contacts.name
    from (${selectCandidates(selection)}) as candidate
    join contacts on contacts.organization_id = ${organization} and contacts.id = candidate.contact_id
    order by candidate.contact_id
  `.execute(tx);
  const { media } = capabilitiesOf(world, inbox);
  const sendable = { template: prepared.template, media, files };
  const compose = await createComposer(tx, sendable, broadcast.header_media_url ?? undefined);
  const targets = [];
  for (const row of rows) {
    const { contact_id, to, name } = row;
    const { text, reason } = await composeText(row, compose);
    targets.push({ contact_id, to, name, text, reason, frozen: freezeCandidate({ ...row, reason }) });
  }
  return targets;
}

interface Sums {
  readonly count: number;
  readonly recipients: number;
  /** The price of the messages; null without a price. */
  readonly amount: number | null;
}

function sumUp(targets: Awaited<ReturnType<typeof readTargets>>): Sums {
  const included = targets.filter(({ reason }) => reason === null);
  const amount = included.reduce<number | null>(
    (sum, { frozen }) => (sum === null || frozen.price === null ? null : sum + frozen.price),
    0,
  );
  return { count: targets.length, recipients: included.length, amount };
}

/** Also counts contacts for whom the text can't be composed. */
async function countCandidates(context: OrganizationChange, basis: Basis): Promise<Sums> {
  const selection = await selectionOf(context, basis);
  const { rows } = await rowsOf({
    count: "bigint",
    recipients: "bigint",
    unpriced: "bigint",
    amount: nullable("bigint"),
  })`
    select count(*) as count, count(*) filter (where reason is null) as recipients,
      count(*) filter (where reason is null and price is null) as unpriced,
      (sum(price) filter (where reason is null))::bigint as amount
    from (${selectCandidates(selection)}) as candidate
  `.execute(context.tx);
  const { count = 0, recipients = 0, unpriced = 0, amount = null } = rows[0] ?? {};
  return { count, recipients, amount: unpriced > 0 ? null : (amount ?? 0) };
}

/** @throws Failure `price_unknown`, `insufficient_funds`. */
async function requireAffordable(
  { tx, world, organization }: OrganizationChange,
  basis: Basis,
  amount: number | null,
): Promise<void> {
  const { simulated, isLimited } = basis.payment;
  const required = requirePrice(basis, amount);
  const account = { organization, simulated };
  if (isLimited && (await readAvailable(tx, world, account)) < required) {
    throw await failInsufficient(tx, world, { ...account, required });
  }
}

/** @throws Failure `price_unknown`. */
function requirePrice({ payment, rates }: Basis, amount: number | null): number {
  if (amount === null && payment.isLimited) {
    throw fail("price_unknown", { currency: rates.currency });
  }
  return amount ?? 0;
}

type Compose = Awaited<ReturnType<typeof createComposer>>;

/** The text of a recipient, or why there is none. */
export async function composeText(
  {
    reason,
    variables,
  }: { readonly reason: ExclusionReason | null; readonly variables: Record<string, string> },
  compose: Compose,
): Promise<{ readonly text: string; readonly reason: ExclusionReason | null }> {
  if (reason !== null) {
    return { text: "", reason };
  }
  try {
    return { text: textOfTemplate(await compose(variables)), reason };
  } catch (error) {
    if (error instanceof Failure && invalidValueCodes.includes(error.code)) {
      return { text: "", reason: "invalid_value" };
    }
    throw error;
  }
}
