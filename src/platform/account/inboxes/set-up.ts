/**
 * Connects an inbox at its channel's provider, step by step, with the credentials that the inbox has. Nothing
 * is stored, and each step changes only what is missing, so that a repeated call is harmless.
 */
import { z } from "zod";
import type { OutputOf } from "../../../../tools/contract/index.ts";
import { fail, failField } from "../../../../tools/errors.ts";
import type { inboxes as contract } from "../../../../tools/inboxes.ts";
import type { SealedText } from "../../../database/schema/index.ts";
import type { SetUpResult } from "../../../ports/channel/account.ts";
import { type OutwardContext, outward } from "../../foundation/kernel/index.ts";
import { seal, unseal } from "../../foundation/sealing/index.ts";
import { findAccount, listAccounts, openAccount, providerOf, StoredAccount } from "./accounts.ts";
import { getInboxById } from "./find.ts";
import { callbackUrlOf } from "./serialize.ts";

/** All steps together; the verification of the address alone may take 10 seconds. */
const timeoutMs = 45_000;

const Intent = z.object({
  id: z.string(),
  channel: z.string(),
  phone_number: z.string(),
  account: StoredAccount,
  other_inboxes: z.array(z.string()),
  replaces_callback: z.boolean(),
  /** Null: the caller sent none. */
  pin: z.custom<SealedText>((value) => typeof value === "string").nullable(),
});
type Intent = z.infer<typeof Intent>;

interface ConnectInput {
  readonly id: string;
  readonly pin?: string | undefined;
  readonly replace_callback: boolean;
}

type Answer = OutputOf<typeof contract.connect_inbox>;

export const connectInbox = outward({
  intent: Intent,

  async begin({ id, pin, replace_callback }: ConnectInput, { tx, world, organization }): Promise<Intent> {
    const { channel, phone_number } = await getInboxById(tx, organization, id);
    const account = await findAccount(tx, { organization_id: organization, inbox_id: id });
    if (!account || !providerOf(world, channel)?.setUp) {
      throw fail("inbox_not_connectable");
    }
    const { app_id } = account;
    const ofApp = await listAccounts(tx, { organization_id: organization, channel, app_id });
    return {
      id,
      channel,
      phone_number,
      account: StoredAccount.parse(account),
      other_inboxes: ofApp.map(({ inbox_id }) => inbox_id).filter((other) => other !== id),
      replaces_callback: replace_callback,
      pin: pin === undefined ? null : seal(world, pin),
    };
  },

  call: (intent, context) => setUp(intent, context),
  find: (intent, context) => setUp(intent, context),

  async record({ steps }, { id }, { now }): Promise<Answer> {
    return {
      data: {
        inbox_id: id,
        ok: steps.every(({ state }) => state === "ok" || state === "changed"),
        checked_at: now.toISOString(),
        steps: [...steps],
      },
    };
  },
});

/** @throws Failure `credentials_rejected`, `channel_unreachable`, `inbox_not_connectable`. */
async function setUp(
  { id, channel, phone_number: address, account: stored, ...intent }: Intent,
  { world, organization: organization_id }: OutwardContext,
): Promise<SetUpResult> {
  const provider = providerOf(world, channel);
  const account = openAccount(world, channel, stored);
  if (!account) {
    // The secret of the service was replaced, and the credentials can't be opened any more.
    throw failField("credentials", "credentials_rejected", { reason: "they can't be read any more." });
  }
  const callbackOf = (inbox: string) => callbackUrlOf(world, { organization_id, id: inbox, channel });
  const request = {
    account,
    address,
    callback_url: callbackOf(id),
    other_callback_urls: intent.other_inboxes.flatMap((other) => callbackOf(other) ?? []),
    replacesCallback: intent.replaces_callback,
    pin: intent.pin === null ? undefined : unseal(world, intent.pin),
  };
  const steps = provider?.setUp?.(request, AbortSignal.timeout(timeoutMs));
  if (!steps) {
    throw fail("inbox_not_connectable");
  }
  return steps.catch((error: unknown) => Promise.reject(fail("channel_unreachable", {}, error)));
}
