/**
 * The limits that the provider sets for a number: how many people it may send to, its quality and its rate.
 * They are read when the account is connected, every day, and when the provider reports a change. The report
 * itself is not used, because it may be older than another report.
 */
import { z } from "zod";
import { InboxSettings } from "../../../../tools/inboxes.ts";
import { ofOrganization } from "../../../database/query/index.ts";
import type { InboxNumberLimits } from "../../../database/schema/index.ts";
import { newJob } from "../../../jobs/job.ts";
import {
  defineJob,
  defineScheduledJob,
  type Transaction,
  type World,
} from "../../foundation/kernel/index.ts";
import { type InboxAccount, type InboxName, lockInbox, providerOf, readAccount } from "./accounts.ts";
import { capabilitiesOf } from "./channel.ts";
import { laneOf } from "./find.ts";

const timeoutMs = 10_000;

/** Undefined if the provider does not say. */
export async function fetchLimits(
  world: World,
  { channel, account }: Pick<InboxAccount, "channel" | "account">,
): Promise<InboxNumberLimits | undefined> {
  return providerOf(world, channel)?.readLimits(account, AbortSignal.timeout(timeoutMs));
}

/**
 * Sets the rate of an inbox's messages: the setting of the inbox, or the rate of its number, or the rate of
 * the channel.
 */
export async function setInboxPace(
  { tx, world }: { readonly tx: Transaction; readonly world: World },
  inbox: {
    readonly id: string;
    readonly channel: string;
    readonly settings: Record<string, unknown>;
    readonly limits: InboxNumberLimits | null;
  },
): Promise<void> {
  const { messages_per_second } = InboxSettings.parse(inbox.settings);
  const { rate } = capabilitiesOf(world, inbox);
  const ofNumber = inbox.limits?.messages_per_second ?? rate.messagesPerSecond;
  await world.jobs.pace(tx, laneOf(inbox.id), messages_per_second ?? ofNumber);
}

const Payload = z.object({ organization_id: z.string(), inbox_id: z.string() });

export const readLimitsJob = defineJob({
  name: "inbox.read-limits",
  payload: Payload,
  // Few attempts: the scheduled job tries again.
  maxAttempts: 3,

  async run(name, world) {
    const found = await readAccount(world.database.queries, world, name);
    const limits = found && (await fetchLimits(world, found));
    if (limits) {
      const { account_id } = found.account;
      await storeLimits(world, name, { account_id, limits });
    }
    return undefined;
  },
});

interface FetchedLimits {
  /** The account that has them. */
  readonly account_id: string;
  readonly limits: InboxNumberLimits;
}

/** Does nothing if the inbox has another account by now. */
async function storeLimits(
  world: World,
  { organization_id, inbox_id }: InboxName,
  { account_id, limits }: FetchedLimits,
): Promise<void> {
  await world.database.transaction(async (tx) => {
    await lockInbox(tx, { organization_id, inbox_id });
    const found = await readAccount(tx, world, { organization_id, inbox_id });
    if (found?.account.account_id !== account_id) {
      return;
    }
    const inbox = await ofOrganization(tx, organization_id)
      .updateTable("inboxes")
      .set({ limits: JSON.stringify(limits) })
      .where("id", "=", inbox_id)
      .returning(["id", "channel", "settings", "limits"])
      .executeTakeFirstOrThrow();
    await setInboxPace({ tx, world }, inbox);
  });
}

/** If a read of the inbox is queued already, no second one is added. */
function newReadJob(payload: z.infer<typeof Payload>) {
  const key = `inbox.read-limits:${payload.inbox_id}`;
  return newJob(readLimitsJob, payload, { key, isDeduplicated: true });
}

export async function requestLimits(world: World, inboxes: readonly InboxName[]): Promise<void> {
  if (inboxes.length > 0) {
    const jobs = inboxes.map(({ organization_id, inbox_id }) => newReadJob({ organization_id, inbox_id }));
    await world.database.transaction((tx) => tx.enqueue(jobs));
  }
}

export const readAllLimitsJob = defineScheduledJob({
  name: "inbox.read-all-limits",
  schedule: "43 4 * * *",

  async run(world) {
    const accounts = world.database.queries
      .selectFrom("inbox_accounts")
      .select(["organization_id", "inbox_id"]);
    await requestLimits(world, await accounts.execute());
  },
});
