/**
 * Receives what a channel's provider reports of accounts. An app may report all its accounts together, so
 * each part goes to the inbox of its account, within the organization.
 */
import { shareReading } from "../../../../database/sharing/index.ts";
import type { NewJob } from "../../../../jobs/job.ts";
import type { AccountIds } from "../../../../ports/channel/account.ts";
import type { ChannelUpdates } from "../../../../ports/channel/channel.ts";
import {
  type InboxAccount,
  listAccounts,
  recordAlert,
  recordHealth,
  requestLimits,
} from "../../../account/inboxes/index.ts";
import { requestSync } from "../../../content/templates/index.ts";
import { shareTransactions, type World } from "../../../foundation/kernel/index.ts";
import { newReportJobs } from "./jobs.ts";
import { receiveReceipts } from "./receipts.ts";

interface Receiver extends Pick<InboxAccount, "channel" | "account"> {
  readonly organization_id: string;
}

const noUpdates: ChannelUpdates = {
  messages: [],
  history: [],
  names: [],
  receipts: [],
  changes: [],
  consents: [],
  moves: [],
  templates: [],
  health: [],
  limits: [],
  alerts: [],
};

/** The reports of an app that arrive together share the reading of its accounts. */
const listAccountsTogether = shareReading(
  (world: World, app: Parameters<typeof listAccounts>[1]) => listAccounts(world.database.queries, app),
  ({ organization_id, channel, app_id }) => [organization_id, channel, app_id],
);

/** When it returns, everything is stored: receipts are applied, and each message is a job. Safe to repeat. */
export async function receiveUpdates(
  world: World,
  { organization_id, channel, account: { app_id } }: Receiver,
  reported: Partial<ChannelUpdates>,
): Promise<void> {
  const updates = { ...noUpdates, ...reported };
  const inboxes = await listAccountsTogether(world, { organization_id, channel, app_id });
  const numbers = new Set(inboxes.map(({ account_id }) => account_id));
  const receipts = updates.receipts.filter(({ account_id }) => numbers.has(account_id));
  await receiveReceipts(
    world,
    receipts.map(({ account_id: _, ...receipt }) => ({ organization_id, ...receipt })),
  );
  const templates = new Map(updates.templates.map((one) => [`${one.business_id} ${one.name}`, one]));
  const notices = [...templates.values()].flatMap(({ business_id, name }) =>
    inboxes
      .filter((inbox) => inbox.business_id === business_id)
      .map(({ phone_number }) => ({ organization_id, phone_number, name })),
  );
  await requestSync(world, notices);
  for (const { inbox_id, ...inbox } of inboxes) {
    const last = updates.health.findLast((one) => isOf(inbox, one.account));
    if (last) {
      await recordHealth(world, { organization_id, inbox_id }, last.failure);
    }
  }
  const accounts = new Set(updates.limits.map(({ business_id }) => business_id));
  const limited = inboxes.filter(({ business_id }) => accounts.has(business_id));
  await requestLimits(
    world,
    limited.map(({ inbox_id }) => ({ organization_id, inbox_id })),
  );
  for (const { account, ...alert } of updates.alerts) {
    const concerned = inboxes.filter((inbox) => isOf(inbox, account));
    for (const { inbox_id } of concerned) {
      await recordAlert(world, { organization_id, inbox_id }, alert);
    }
  }
  const received_at = world.now().toISOString();
  const jobs = newReportJobs({ organization_id, channel, received_at, inboxes }, updates);
  if (jobs.length > 0) {
    await addJobs(world, { organization_id, jobs });
  }
}

interface NewReports {
  readonly organization_id: string;
  readonly jobs: readonly NewJob[];
}

const addJobs = shareTransactions(async (tx, _world, reports: readonly NewReports[]) => {
  await tx.enqueue(reports.flatMap(({ jobs }) => jobs));
  return reports.map(() => undefined);
});

function isOf(
  inbox: Pick<AccountIds, "account_id" | "business_id">,
  {
    account_id = inbox.account_id,
    business_id = inbox.business_id,
  }: ChannelUpdates["health"][number]["account"],
): boolean {
  return inbox.account_id === account_id && inbox.business_id === business_id;
}
