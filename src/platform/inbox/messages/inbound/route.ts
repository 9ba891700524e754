/**
 * Where a channel's provider reports messages and receipts, one address for each inbox.
 *
 * A request is answered with 200 only when everything in it is stored: receipts are applied, and each message
 * is a job. The provider repeats any other request for days. An app reports all its numbers to one address,
 * so each part goes to the inbox of its number, within the organization.
 */
import { fail } from "../../../../../tools/errors.ts";
import type { ChannelAccount, ChannelProvider, ChannelUpdates } from "../../../../ports/channel.ts";
import {
  callbackPath,
  listAccounts,
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

interface Target {
  readonly organization_id: string;
  readonly account: ChannelAccount;
  readonly provider: ChannelProvider;
}

async function findTarget(
  world: World,
  { organization_id = "", inbox_id = "" }: Readonly<Record<string, string>>,
): Promise<Target | undefined> {
  const account = await readAccount(world.database.queries, world, { organization_id, inbox_id });
  const provider = world.channels[channel]?.provider;
  return account && provider ? { organization_id, account, provider } : undefined;
}

async function receiveUpdates(
  world: World,
  { organization_id, account }: Target,
  updates: ChannelUpdates,
): Promise<void> {
  const { app_id } = account;
  const inboxes = await listAccounts(world.database.queries, { organization_id, app_id });
  const numbers = new Set(inboxes.map(({ phone_number_id }) => phone_number_id));
  const receipts = updates.receipts.filter(({ phone_number_id }) => numbers.has(phone_number_id));
  await receiveReceipts(
    world,
    receipts.map(({ phone_number_id: _, ...receipt }) => ({ organization_id, ...receipt })),
  );
  const templates = new Map(updates.templates.map((one) => [`${one.waba_id} ${one.name}`, one]));
  const notices = [...templates.values()].flatMap(({ waba_id, name }) =>
    inboxes
      .filter((inbox) => inbox.waba_id === waba_id)
      .map(({ phone_number }) => ({ organization_id, phone_number, name })),
  );
  await requestSync(world, notices);
  for (const { inbox_id, ...inbox } of inboxes) {
    const last = updates.health.findLast((one) => isOf(inbox, one.account));
    if (last) {
      await recordHealth(world, { organization_id, inbox_id }, last.failure);
    }
  }
  const accounts = new Set(updates.limits.map(({ waba_id }) => waba_id));
  const limited = inboxes.filter(({ waba_id }) => accounts.has(waba_id));
  await requestLimits(
    world,
    limited.map(({ inbox_id }) => ({ organization_id, inbox_id })),
  );
  for (const alert of updates.alerts.filter(({ waba_id }) =>
    inboxes.some((one) => one.waba_id === waba_id),
  )) {
    world.log.warn({ organization_id, ...alert }, "Meta reports a problem of a WhatsApp account");
  }
  const received_at = world.now().toISOString();
  const jobs = newReportJobs({ organization_id, received_at, inboxes }, updates);
  if (jobs.length > 0) {
    await world.database.transaction((tx) => tx.enqueue(jobs));
  }
}

function isOf(
  inbox: Pick<ChannelAccount, "phone_number_id" | "waba_id">,
  {
    phone_number_id = inbox.phone_number_id,
    waba_id = inbox.waba_id,
  }: ChannelUpdates["health"][number]["account"],
): boolean {
  return inbox.phone_number_id === phone_number_id && inbox.waba_id === waba_id;
}
