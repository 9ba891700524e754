/**
 * Plans what sends a broadcast further or again: resuming and retrying.
 *
 * The recipients are known once the broadcast has been resumed or retried. Planning does so in a savepoint,
 * reads the pending recipients and rolls the savepoint back. The run resumes or retries the broadcast, and
 * compares the pending recipients with the recipients of the plan.
 */
import { createHash } from "node:crypto";
import { fail } from "../../../../tools/errors.ts";
import { maxPlanTargets } from "../../../../tools/plans.ts";
import { allColumnsOf, columnsOf, rowsOf } from "../../../database/query/index.ts";
import { capabilitiesOf, getOrDefaultInbox } from "../../account/inboxes/index.ts";
import { createComposer } from "../../content/templates/index.ts";
import type { Actor, OrganizationChange, Transaction } from "../../foundation/kernel/index.ts";
import { type BroadcastRow, getBroadcast } from "./find.ts";
import { composeText } from "./plan.ts";
import { freezeCandidate, type PlannedRecipient, requirePlannedPrices } from "./sending/index.ts";

/** Resumes or retries the broadcast. `planned` are the recipients of the plan, in batches. */
export type SendingAct<Result> = (
  context: OrganizationChange,
  planned: AsyncIterable<readonly PlannedRecipient[]>,
) => Promise<Result>;

interface Sending {
  readonly id: string;
  /** The first word of the plan's summary, such as `Resume`. */
  readonly verb: string;
  act(context: OrganizationChange): Promise<unknown>;
}

const recipientColumns = {
  ...allColumnsOf("broadcast_recipients"),
  ...columnsOf("contacts", "name"),
} as const;

/** @throws Failure if it can't be done now, `plan_too_large`. */
export async function planSending({ id, verb, act }: Sending, context: OrganizationChange) {
  const { name, ...planned } = await context.tx.rehearse(async (tx) => {
    const acting = { ...context, actor: withoutModes(context.actor), tx };
    await act(acting);
    return describe(acting, id);
  });
  return { ...planned, summary: `${verb} the broadcast ${name}`, warnings: [], subjects: [] };
}

/** @throws Failure `plan_changed`. */
export async function runSending<Result>(
  { id, act }: { readonly id: string; readonly act: SendingAct<Result> },
  context: OrganizationChange,
  call: { readonly frozen: unknown; readonly targets: AsyncIterable<readonly PlannedRecipient[]> },
): Promise<Result> {
  const { tx, organization } = context;
  const targets: PlannedRecipient[] = [];
  for await (const batch of call.targets) {
    targets.push(...batch);
  }
  const done = await act(context, inOneBatch(targets));
  const broadcast = await getBroadcast(tx, organization, id);
  if (call.frozen !== contentHash(broadcast)) {
    throw fail("plan_changed", { reason: "the broadcast or its template was changed meanwhile" });
  }
  const planned = new Set(targets.map(({ contact_id }) => contact_id));
  const pending = await readPending(tx, broadcast);
  if (pending.some(({ contact_id }) => !planned.has(contact_id))) {
    throw fail("plan_changed", { reason: "it would reach people who are not in the plan" });
  }
  await requirePlannedPrices(tx, broadcast, targets);
  return done;
}

async function* inOneBatch<Item>(items: readonly Item[]): AsyncGenerator<readonly Item[]> {
  yield items;
}

/** Planning is no call, so only what rules do not allow at all holds it back. */
function withoutModes({ rules, ...actor }: Actor): Actor {
  const begun = rules?.map((one) => ({ ...one, mode: "auto" as const, approve: {} }));
  return begun ? { ...actor, rules: begun } : actor;
}

async function describe({ tx, world, organization }: OrganizationChange, id: string) {
  const broadcast = await getBroadcast(tx, organization, id);
  const { name, currency, inbox_id } = broadcast;
  const rows = await readPending(tx, broadcast);
  if (rows.length > maxPlanTargets) {
    throw fail("plan_too_large", { limit: maxPlanTargets });
  }
  const inbox = await getOrDefaultInbox(tx, organization, inbox_id);
  const { media } = capabilitiesOf(world, { channel: inbox.channel });
  const compose = await createComposerOf(tx, broadcast, media);
  const targets = [];
  for (const { variables, ...row } of rows) {
    const values = variables ?? {};
    const frozen = freezeCandidate({ ...row, variables: values, reason: null });
    const { contact_id, to, name: contact } = row;
    // A recipient whose values are invalid is excluded when its message is made.
    const { text } = await composeText({ reason: null, variables: values }, compose);
    targets.push({ contact_id, to, name: contact, text, reason: null, frozen });
  }
  const isPriced = currency !== null && rows.length > 0 && rows.every(({ price }) => price !== null);
  const amount = rows.reduce((sum, { price }) => sum + (price ?? 0), 0);
  return { name, targets, price: isPriced ? { amount, currency } : null, frozen: contentHash(broadcast) };
}

async function readPending(tx: Transaction, { organization_id, id }: BroadcastRow) {
  const { rows } = await rowsOf(recipientColumns)`
    select recipient.*, contacts.name
    from broadcast_recipients as recipient
    join contacts on contacts.organization_id = ${organization_id} and contacts.id = recipient.contact_id
    where recipient.organization_id = ${organization_id} and recipient.broadcast_id = ${id}
      and recipient.status = 'pending'
    order by recipient.contact_id limit ${maxPlanTargets + 1}
  `.execute(tx);
  return rows;
}

type Media = Parameters<typeof createComposer>[1]["media"];

async function createComposerOf(
  tx: Transaction,
  { organization_id, template_id, template, header_media_url }: BroadcastRow,
  media: Media,
) {
  if (template === null) {
    throw new Error("The broadcast was not executed");
  }
  const approved = { organization_id, id: template_id, ...template };
  return createComposer(tx, { template: approved, media }, header_media_url ?? undefined);
}

/** Everything that is sent to each recipient. */
function contentHash({ template, header_media_url, inbox_id }: BroadcastRow): string {
  const content = JSON.stringify([template, header_media_url, inbox_id]);
  return createHash("sha256").update(content).digest("base64url");
}
