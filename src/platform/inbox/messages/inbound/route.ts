/**
 * Where a channel's provider reports messages and receipts, one address for each inbox.
 *
 * A request is answered with 200 only when everything in it is stored: receipts are applied, and each message
 * is a job. The provider repeats any other request for days. An app reports all its numbers to one address,
 * so each part goes to the inbox of its number, within the organization.
 */
import { fail } from "../../../../../tools/errors.ts";
import type { AccountIds } from "../../../../ports/channel/account.ts";
import type { ChannelProvider, ChannelUpdates } from "../../../../ports/channel/channel.ts";
import {
  callbackPath,
  type InboxAccount,
  listAccounts,
  providerOf,
  readAccount,
  recordHealth,
  requestLimits,
} from "../../../account/inboxes/index.ts";
import { requestSync } from "../../../content/templates/index.ts";
import type { ModuleRoute, World } from "../../../foundation/kernel/index.ts";
import { newReportJobs } from "./jobs.ts";
import { receiveReceipts } from "./receipts.ts";

const channel = "whatsapp";
/** What Meta sends at most. */
const maxBodyBytes = 3_000_000;

const path = callbackPath(channel);
/** The provider sends everything from few addresses. Forged requests are limited. */
const limits = { isRateLimited: false, limitsRejections: true } as const;
/** The answer repeats a text of the request. */
const headers = { "content-type": "text/plain", "x-content-type-options": "nosniff" } as const;

const handshakeRoute: ModuleRoute = {
  methods: ["GET"],
  path,
  credential: "none",
  body: "none",
  ...limits,

  async handle({ params, query }, world) {
    const target = await findTarget(world, params);
    const answer = target?.provider.answerHandshake(target.account, query);
    return answer === undefined
      ? { status: 403, headers, body: "The verify token is wrong, or no inbox has this address." }
      : { status: 200, headers, body: answer };
  },
};

const updatesRoute: ModuleRoute = {
  methods: ["POST"],
  path,
  credential: "none",
  body: "raw",
  ...limits,
  maxBodyBytes,

  async handle({ params, headers, body }, world) {
    const target = await findTarget(world, params);
    const updates = target?.provider.readRequest(target.account, { headers, body }) ?? "forged";
    if (updates === "forged" || !target) {
      throw fail("webhook_not_signed");
    }
    if (updates === "unreadable") {
      return { status: 400, body: "The body has an unknown form." };
    }
    if (updates === "too_many") {
      return { status: 413, body: "A request has at most 1,000 updates." };
    }
    await receiveUpdates(world, target, updates);
    return { status: 200, body: { received: true } };
  },
};

export const inboundRoutes: readonly ModuleRoute[] = [handshakeRoute, updatesRoute];

interface Target extends InboxAccount {
  readonly organization_id: string;
  readonly provider: ChannelProvider;
}

async function findTarget(
  world: World,
  { organization_id = "", inbox_id = "" }: Readonly<Record<string, string>>,
): Promise<Target | undefined> {
  const found = await readAccount(world.database.queries, world, { organization_id, inbox_id });
  const provider = found && providerOf(world, found.channel);
  return provider ? { organization_id, ...found, provider } : undefined;
}

async function receiveUpdates(
  world: World,
  { organization_id, channel, account: { app_id } }: Target,
  updates: ChannelUpdates,
): Promise<void> {
  const inboxes = await listAccounts(world.database.queries, { organization_id, channel, app_id });
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
  for (const alert of updates.alerts.filter(({ business_id }) =>
    inboxes.some((one) => one.business_id === business_id),
  )) {
    world.log.warn({ organization_id, ...alert }, "The provider reports a problem of an account");
  }
  const received_at = world.now().toISOString();
  const jobs = newReportJobs({ organization_id, received_at, inboxes }, updates);
  if (jobs.length > 0) {
    await world.database.transaction((tx) => tx.enqueue(jobs));
  }
}

function isOf(
  inbox: Pick<AccountIds, "account_id" | "business_id">,
  {
    account_id = inbox.account_id,
    business_id = inbox.business_id,
  }: ChannelUpdates["health"][number]["account"],
): boolean {
  return inbox.account_id === account_id && inbox.business_id === business_id;
}
