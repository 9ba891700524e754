/**
 * The limits that the provider sets for a number: how many people it may send to, its quality and its rate.
 * They are read when the account is connected, every day, and when the provider reports a change. The report
 * itself is not used, because it may be older than another report.
 */
import { z } from "zod";
import { InboxSettings } from "../../../../tools/inboxes.ts";
import { ofOrganization } from "../../../database/query/index.ts";
import type { NumberLimits } from "../../../database/schema/index.ts";
import { newJob } from "../../../jobs/job.ts";
import type { ChannelAccount } from "../../../ports/channel.ts";
import {
  defineJob,
  defineScheduledJob,
  type Transaction,
  type World,
} from "../../foundation/kernel/index.ts";
import { findAccount, type InboxName, lockInbox, openAccount } from "./accounts.ts";
import { laneOf } from "./find.ts";

const timeoutMs = 10_000;

/**
 * Messages per second by channel, if neither the inbox nor its number has a rate. A channel without an entry
 * has no limit.
 */
const paces: Readonly<Record<string, number>> = { whatsapp: 80 };

interface Account {
  readonly channel: string;
  readonly account: ChannelAccount;
}

/** Returns undefined if the provider reports no limits. */
export async function fetchLimits(
  world: World,
  { channel, account }: Account,
): Promise<NumberLimits | undefined> {
  return world.channels[channel]?.provider?.readLimits(account, AbortSignal.timeout(timeoutMs));
}

/**
 * Sets the rate of an inbox's messages: the setting of the inbox, or the rate of its number, or the rate of
 * the channel.
 */
export async function setPace(
  { tx, world }: { readonly tx: Transaction; readonly world: World },
  inbox: {
    readonly id: string;
    readonly channel: string;
    readonly settings: Record<string, unknown>;
    readonly limits: NumberLimits | null;
  },
): Promise<void> {
  const { messages_per_second } = InboxSettings.parse(inbox.settings);
  const ofNumber = inbox.limits?.messages_per_second ?? paces[inbox.channel] ?? null;
  await world.jobs.pace(tx, laneOf(inbox.id), messages_per_second ?? ofNumber);
}

const Payload = z.object({ organization_id: z.string(), inbox_id: z.string() });

export const readLimitsJob = defineJob({
  name: "inbox.read-limits",
  payload: Payload,
  // Few attempts: the scheduled job tries again.
  maxAttempts: 3,

  async run(name, world) {
    const row = await findAccount(world.database.queries, name);
    const account = row && openAccount(world, row);
    const limits = account && (await fetchLimits(world, { channel: row.channel, account }));
    if (limits) {
      const { phone_number_id } = account;
      await storeLimits(world, name, { phone_number_id, limits });
    }
    return undefined;
  },
});

interface FetchedLimits {
  /** The number that has these limits. */
  readonly phone_number_id: string;
  readonly limits: NumberLimits;
}

/** Does nothing if the inbox has another number meanwhile. */
async function storeLimits(
  world: World,
  { organization_id, inbox_id }: InboxName,
  { phone_number_id, limits }: FetchedLimits,
): Promise<void> {
  await world.database.transaction(async (tx) => {
    await lockInbox(tx, { organization_id, inbox_id });
    const row = await findAccount(tx, { organization_id, inbox_id });
    if (row?.phone_number_id !== phone_number_id) {
      return;
    }
    const inbox = await ofOrganization(tx, organization_id)
      .updateTable("inboxes")
      .set({ limits: JSON.stringify(limits) })
      .where("id", "=", inbox_id)
      .returning(["id", "channel", "settings", "limits"])
      .executeTakeFirstOrThrow();
    await setPace({ tx, world }, inbox);
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
