/** Plans the execution of a broadcast: whom it would reach with which text, and what it costs. */
import { createHash } from "node:crypto";
import { z } from "zod";
import type { ExclusionReason } from "../../../../tools/broadcasts/index.ts";
import { Failure } from "../../../../tools/contract/index.ts";
import { fail } from "../../../../tools/errors.ts";
import { maxPlanTargets } from "../../../../tools/plans.ts";
import { nullable, rowsOf, typed } from "../../../database/query/index.ts";
import { capabilitiesOf, getOrDefaultInbox } from "../../account/inboxes/index.ts";
import { createComposer, textOfTemplate } from "../../content/templates/index.ts";
import type { OrganizationChange } from "../../foundation/kernel/index.ts";
import { failInsufficient, paymentOf, readAvailable } from "../../money/wallet/index.ts";
import { type BroadcastRow, getBroadcast, lockBroadcast, requireState } from "./find.ts";
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

const Frozen = z.object({ content: z.string() });

/**
 * All recipients have to be paid, whatever `allow_partial` says: who would be left out is not known before.
 * @throws Failure if the broadcast can't be executed now, `plan_too_large`, `plan_needs_upload`.
 */
export async function planExecution({ id }: { readonly id: string }, context: OrganizationChange) {
  const { tx, world, organization } = context;
  const broadcast = await getBroadcast(tx, organization, id);
  requireState(broadcast, { allowed: startable, action: "planned" });
  const prepared = await prepareContent(context, organization, broadcastContent(broadcast));
  const inbox = await getOrDefaultInbox(tx, organization, prepared.template.inbox_id);
  const payment = paymentOf(world, inbox);
  const rates = await readBroadcastRates(tx, organization, payment);
  const targets = await readTargets(context, broadcast, { prepared, channel: inbox.channel, rates });
  const included = targets.filter(({ reason }) => reason === null);
  const isPriced = included.every(({ frozen }) => frozen.price !== null);
  if (!isPriced && payment.isLimited) {
    throw fail("price_unknown", { currency: rates.currency });
  }
  const amount = included.reduce((sum, { frozen }) => sum + (frozen.price ?? 0), 0);
  const account = { organization, simulated: payment.simulated };
  if (payment.isLimited && (await readAvailable(tx, world, account)) < amount) {
    throw await failInsufficient(tx, world, { ...account, required: amount });
  }
  return {
    summary: `Execute the broadcast ${broadcast.name} from ${inbox.phone_number}`,
    targets,
    price: isPriced && included.length > 0 ? { amount, currency: rates.currency } : null,
    warnings: [],
    subjects: [],
    frozen: { content: contentHash(broadcast, prepared) },
  };
}

/** Executes the broadcast for the recipients of the plan. @throws Failure `plan_changed`. */
export async function executePlanned(
  { id }: { readonly id: string },
  context: OrganizationChange,
  { frozen, targets: planned }: { readonly frozen: unknown; readonly targets: readonly PlannedRecipient[] },
): Promise<BroadcastRow> {
  const { tx, organization } = context;
  const broadcast = await lockBroadcast(tx, organization, { id, allowed: startable, action: "executed" });
  const prepared = await prepareContent(context, organization, broadcastContent(broadcast));
  if (Frozen.parse(frozen).content !== contentHash(broadcast, prepared)) {
    throw fail("plan_changed", { reason: "the broadcast or its template was changed meanwhile" });
  }
  return executeBroadcast({ ...context, broadcast }, { allowPartial: false, planned });
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

interface Basis {
  readonly prepared: PreparedContent;
  readonly channel: string;
  readonly rates: Awaited<ReturnType<typeof readBroadcastRates>>;
}

async function readTargets(
  context: OrganizationChange,
  broadcast: BroadcastRow,
  { prepared: { template, mapping }, channel, rates }: Basis,
) {
  const { tx, world, organization, now } = context;
  const cohort = await requireReadyCohort(tx, organization, broadcast.cohort_id);
  const { addresses, media } = capabilitiesOf(world, { channel });
  const { category } = template.version;
  const { rows } = await rowsOf(candidateColumns)`
    select candidate.*, contacts.name
    from (${selectCandidates({ organization, cohort, mapping, addresses, rates, category, now })}) as candidate
    join contacts on contacts.organization_id = ${organization} and contacts.id = candidate.contact_id
    order by candidate.contact_id limit ${maxPlanTargets + 1}
  `.execute(tx);
  if (rows.length > maxPlanTargets) {
    throw fail("plan_too_large", { limit: maxPlanTargets });
  }
  const compose = await createComposer(tx, { template, media }, broadcast.header_media_url ?? undefined);
  return rows.map((row) => {
    const { contact_id, to, name } = row;
    const { text, reason } = composeText(row, compose);
    return { contact_id, to, name, text, reason, frozen: freezeCandidate({ ...row, reason }) };
  });
}

type Compose = Awaited<ReturnType<typeof createComposer>>;

/** The text, or why there is none. */
function composeText(
  {
    reason,
    variables,
  }: { readonly reason: ExclusionReason | null; readonly variables: Record<string, string> },
  compose: Compose,
): { readonly text: string; readonly reason: ExclusionReason | null } {
  if (reason !== null) {
    return { text: "", reason };
  }
  try {
    const sent = compose(variables);
    if (sent.header && "media" in sent.header && sent.header.media.upload === undefined) {
      throw fail("plan_needs_upload");
    }
    return { text: textOfTemplate(sent), reason };
  } catch (error) {
    if (error instanceof Failure && error.code === "template_values_mismatch") {
      return { text: "", reason: "invalid_value" };
    }
    throw error;
  }
}
