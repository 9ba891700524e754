/**
 * Where a channel's provider reports messages and receipts, one address for each inbox.
 *
 * A request is answered with 200 only when everything in it is stored: receipts are applied, and each message is a job. The
 * provider repeats any other request for days. An app reports all its numbers to one address, so each part goes to the
 * inbox of its number, within the organization.
 */
import { fail } from "../../../../tools/errors.ts";
import { newJob } from "../../../jobs/job.ts";
import type {
  ChannelAccount,
  ChannelProvider,
  ChannelUpdates,
  IdentityMove,
} from "../../../ports/channel.ts";
import { callbackPath, listAccounts, readAccount, recordHealth, requestLimits } from "../../inboxes/index.ts";
import type { ModuleRoute, World } from "../../kernel/index.ts";
import { requestSync } from "../../templates/index.ts";
import { changeConsentJob } from "../consent-job.ts";
import { receiveReceipts } from "../inbound/index.ts";
import { changeMessageJob } from "./changes.ts";
import { moveContactJob, receiveMessageJob } from "./receive.ts";

const channel = "whatsapp";
/** What Meta sends at most. */
const maxBodyBytes = 3_000_000;

const path = callbackPath(channel);
/** The provider sends everything from few addresses; a forged request costs one query. */
const isRateLimited = false;

const handshakeRoute: ModuleRoute = {
  methods: ["GET"],
  path,
  credential: "none",
  body: "none",
  isRateLimited,

  async handle({ params, query }, world) {
    const target = await findTarget(world, params);
    const answer = target?.provider.answerHandshake(target.account, query);
    return answer === undefined
      ? { status: 403, body: "The verify token is wrong, or no inbox has this address." }
      : { status: 200, headers: { "content-type": "text/plain" }, body: answer };
  },
};

const updatesRoute: ModuleRoute = {
  methods: ["POST"],
  path,
  credential: "none",
  body: "raw",
  isRateLimited,
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
    await store(world, target, updates);
    return { status: 200, body: { received: true } };
  },
};

export const ingressRoutes: readonly ModuleRoute[] = [handshakeRoute, updatesRoute];

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

type Inboxes = Awaited<ReturnType<typeof listAccounts>>;

async function store(world: World, { organization_id, account }: Target, updates: ChannelUpdates) {
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
  const jobs = [
    ...newJobs(organization_id, inboxes, updates),
    ...newChanges({ organization_id, received_at }, numbers, updates),
  ];
  if (jobs.length > 0) {
    await world.database.transaction((tx) => world.jobs.enqueueAll(tx, jobs));
  }
}

/** Of each message and each person who has moved. */
function newJobs(organization_id: string, inboxes: Inboxes, { moves, messages }: ChannelUpdates) {
  const ids = new Map(inboxes.map(({ phone_number_id, inbox_id }) => [phone_number_id, inbox_id]));
  const ours = moves.filter(({ phone_number_id }) => ids.has(phone_number_id));
  const keys = orderKeys(organization_id, ours);
  return [
    ...ours.map(({ phone_number_id: _, ...move }) =>
      newJob(moveContactJob, { organization_id, ...move }, { key: keys.get(move.from) }),
    ),
    ...messages.flatMap((message) => {
      const inbox_id = ids.get(message.phone_number_id);
      const { from: phone_number, identities } = message;
      const key = keys.get({ phone_number, bsuid: identities?.bsuid ?? null });
      return inbox_id === undefined
        ? []
        : [newJob(receiveMessageJob, { organization_id, inbox_id, message }, { key })];
    }),
  ];
}

/** Of each change of a message and of a consent. Their times order them. */
function newChanges(
  { organization_id, received_at }: { readonly organization_id: string; readonly received_at: string },
  numbers: ReadonlySet<string>,
  { changes, consents }: ChannelUpdates,
) {
  const isOurs = ({ phone_number_id }: { readonly phone_number_id: string }) => numbers.has(phone_number_id);
  return [
    ...changes
      .filter(isOurs)
      .map(({ phone_number_id: _, ...change }) =>
        newJob(changeMessageJob, { organization_id, received_at, ...change }),
      ),
    ...consents
      .filter(isOurs)
      .map(({ opted_out, occurred_at, from, identities }) =>
        newJob(changeConsentJob, { organization_id, opted_out, occurred_at, contact: { from, identities } }),
      ),
  ];
}

/** What a person sends is received in order, and what comes from a new number after the move to it. */
function orderKeys(organization_id: string, moves: readonly IdentityMove[]) {
  const ownKey = ({ phone_number, bsuid }: IdentityMove["from"]) =>
    `message.receive:${organization_id}:${phone_number ?? bsuid}`;
  const moved = new Map<string, string>();
  const get = (person: IdentityMove["from"]) => moved.get(ownKey(person)) ?? ownKey(person);
  for (const { from, to } of moves) {
    moved.set(ownKey(to), get(from));
  }
  return { get };
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
