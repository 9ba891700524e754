/**
 * Where a channel's provider reports messages and receipts, one address for each inbox.
 *
 * A request is answered with 200 only when everything in it is stored: receipts are applied, and each message
 * is a job. The provider repeats any other request for days. An app reports all its numbers to one address,
 * so each part goes to the inbox of its number, within the organization.
 */
import { fail } from "../../../../../tools/errors.ts";
import { shareReading } from "../../../../database/sharing/index.ts";
import type { ChannelWebhook } from "../../../../ports/channel/channel.ts";
import {
  callbackPath,
  type InboxAccount,
  providerOf,
  readAccount,
  recordWebhook,
} from "../../../account/inboxes/index.ts";
import type { ModuleRoute, World } from "../../../foundation/kernel/index.ts";
import { receiveUpdates } from "./updates.ts";

/** What providers send at most. */
const maxBodyBytes = 3_000_000;

/** The provider sends everything from few addresses. Forged requests are limited. */
const limits = { isRateLimited: false, limitsRejections: true } as const;
/** The answer repeats a text of the request. */
const headers = { "content-type": "text/plain", "x-content-type-options": "nosniff" } as const;

const handshakeRoute: ModuleRoute = {
  methods: ["GET"],
  path: callbackPath,
  credential: "none",
  body: "none",
  ...limits,

  async requireTarget(params, world) {
    await findTarget(world, params, "webhook_not_verified");
  },
  async handle({ params, query }, world) {
    const { webhook, account } = await findTarget(world, params, "webhook_not_verified");
    const answer = webhook.answerHandshake(account, query);
    if (answer === undefined) {
      throw fail("webhook_not_verified");
    }
    return { status: 200, headers, body: answer };
  },
};

const updatesRoute: ModuleRoute = {
  methods: ["POST"],
  path: callbackPath,
  credential: "none",
  body: "raw",
  ...limits,
  maxBodyBytes,

  async requireTarget(params, world) {
    await findTarget(world, params, "webhook_not_signed");
  },
  async handle({ params, headers, body }, world) {
    const target = await findTarget(world, params, "webhook_not_signed");
    const updates = target.webhook.readRequest(target.account, { headers, body });
    if (updates === "forged") {
      throw fail("webhook_not_signed");
    }
    await recordWebhook(world, target);
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
  readonly webhook: ChannelWebhook;
}

/** The requests of an inbox that arrive together share the reading of its account. */
const readAccountTogether = shareReading(
  (world: World, inbox: Pick<Target, "organization_id"> & { readonly inbox_id: string }) =>
    readAccount(world.database.queries, world, inbox),
  ({ organization_id, inbox_id }) => [organization_id, inbox_id],
);

/**
 * The channel of the inbox may report to no address.
 * @throws Failure with this code, as for a request that the inbox rejects.
 */
async function findTarget(
  world: World,
  { channel = "", organization_id = "", inbox_id = "" }: Readonly<Record<string, string>>,
  missing: "webhook_not_verified" | "webhook_not_signed",
): Promise<Target> {
  const found = await readAccountTogether(world, { organization_id, inbox_id });
  const webhook = found && providerOf(world, found.channel)?.webhook;
  if (!webhook || found.channel !== channel) {
    throw fail(missing);
  }
  return { organization_id, ...found, webhook };
}
