/**
 * Creates and changes inboxes. The account of a real channel is checked at its provider before it is stored:
 * if the account is rejected, a new inbox is not created, and an existing inbox keeps its account.
 */
import { z } from "zod";
import { fail, failField } from "../../../../tools/errors.ts";
import { InboxSettings } from "../../../../tools/inboxes.ts";
import { ofOrganization } from "../../../database/query/index.ts";
import type { InboxNumberLimits } from "../../../database/schema/index.ts";
import {
  freshId,
  type OutwardContext,
  outward,
  type Transaction,
  type World,
} from "../../foundation/kernel/index.ts";
import { requireBelowQuota } from "../organization/index.ts";
import { requireCountry } from "../phone/index.ts";
import { openAccount, providerOf, StoredAccount, sealAccount, storeAccount } from "./accounts.ts";
import { readOwnAddress } from "./addresses.ts";
import { capabilitiesOf, readMarksOf } from "./channel.ts";
import { getInbox, getInboxById, insertInbox } from "./find.ts";
import { changeHealth } from "./health.ts";
import { fetchLimits, setInboxPace } from "./limits.ts";
import { serializeInbox } from "./serialize.ts";

const connectTimeoutMs = 15_000;

const Target = z.object({
  id: z.string(),
  channel: z.string(),
  phone_number: z.string(),
  /** Null: the inbox has no account, or keeps its account. */
  account: StoredAccount.nullable(),
});
type Target = z.infer<typeof Target>;

const CreateIntent = Target.extend({ name: z.string(), settings: InboxSettings });
type CreateIntent = z.infer<typeof CreateIntent>;
const UpdateIntent = CreateIntent.partial({ name: true, settings: true });
type UpdateIntent = z.infer<typeof UpdateIntent>;

interface NewInbox {
  readonly name: string;
  readonly phone_number: string;
  readonly channel: string;
  readonly settings: InboxSettings;
  readonly credentials?: Credentials | undefined;
}

type Credentials = Readonly<Record<string, unknown>>;

export const createInbox = outward({
  intent: CreateIntent,

  async begin(input: NewInbox, context): Promise<CreateIntent> {
    const { tx, world, organization } = context;
    const { name, channel, settings, credentials } = input;
    const { isSimulated } = capabilitiesOf(world, { channel });
    if (world.sandbox && !isSimulated) {
      throw failField("channel", "channel_in_sandbox");
    }
    await requireBelowQuota(context, "inboxes", tx.selectFrom("inboxes"));
    requireReadMarksSupported(world, { channel, settings });
    requireCountry(settings.default_country, "settings.default_country");
    const own = { organization, channel, text: input.phone_number, country: settings.default_country };
    const phone_number = await readOwnAddress(tx, world, own);
    await requireNewNumber(tx, organization, phone_number);
    const account = credentials ? sealCredentials(world, channel, credentials) : null;
    return { id: freshId(context, "inb"), name, channel, phone_number, settings, account };
  },

  call: (intent, context) => connect(intent, context),
  find: (intent, context) => connect(intent, context),

  async record({ limits }, { account, ...inbox }, context) {
    const { tx, world, organization, now } = context;
    // Other inboxes may have been created since the first step.
    await requireBelowQuota(context, "inboxes", tx.selectFrom("inboxes"));
    const { platform } = capabilitiesOf(world, inbox);
    const created = await insertInbox(tx, { ...inbox, platform, limits, organization, now });
    if (!created) {
      // Another request has created the inbox since the first step.
      await requireNewNumber(tx, organization, inbox.phone_number);
      throw fail("unavailable", { reason: "another request is creating this inbox." });
    }
    if (account) {
      await storeAccount(tx, { organization_id: organization, inbox_id: inbox.id }, { account, now });
    }
    await setInboxPace({ tx, world }, created);
    return { data: serializeInbox(world, created) };
  },
});

interface InboxChanges {
  readonly id: string;
  readonly name?: string | undefined;
  readonly settings?: InboxSettings | undefined;
  readonly credentials?: Credentials | undefined;
}

export const updateInbox = outward({
  intent: UpdateIntent,

  async begin(
    { id, name, settings, credentials }: InboxChanges,
    { tx, world, organization },
  ): Promise<UpdateIntent> {
    requireCountry(settings?.default_country, "settings.default_country");
    const { channel, phone_number } = await getInboxById(tx, organization, id);
    requireReadMarksSupported(world, { channel, settings });
    const account = credentials ? sealCredentials(world, channel, credentials) : null;
    return { id, channel, phone_number, account, name, settings };
  },

  call: (intent, context) => connect(intent, context),
  find: (intent, context) => connect(intent, context),

  async record({ limits }, { id, name, settings, account }, { tx, world, organization, now }) {
    const inboxKey = { organization_id: organization, inbox_id: id };
    if (account) {
      // The new account works, so messages of the inbox need not wait any longer.
      await changeHealth({ tx, world }, inboxKey, null);
      await storeAccount(tx, inboxKey, { account, now });
    }
    const changed = await ofOrganization(tx, organization)
      .updateTable("inboxes")
      .set({
        name,
        settings: settings && JSON.stringify(settings),
        ...(limits && { limits: JSON.stringify(limits) }),
        updated_at: now.toISOString(),
      })
      .where("id", "=", id)
      .returningAll()
      .executeTakeFirstOrThrow();
    if (settings || limits) {
      await setInboxPace({ tx, world }, changed);
    }
    return { data: serializeInbox(world, changed) };
  },
});

/** @throws Failure `read_marks_not_supported`. */
function requireReadMarksSupported(
  world: World,
  { channel, settings = {} }: { readonly channel: string; readonly settings?: InboxSettings | undefined },
): void {
  const { read_marks: value = "off" } = settings;
  if (readMarksOf(world, { channel, settings }) !== value) {
    throw failField("settings.read_marks", "read_marks_not_supported", { value });
  }
}

/** @throws Failure `inbox_exists`. */
async function requireNewNumber(tx: Transaction, organization: string, phone_number: string): Promise<void> {
  const existing = await getInbox(tx, organization, { phone_number });
  if (existing) {
    throw fail("inbox_exists", { existing_id: existing.id, param: "phone_number" });
  }
}

/** @throws Failure `credentials_not_used`, `credentials_rejected`. */
function sealCredentials(world: World, channel: string, credentials: Credentials): StoredAccount {
  const provider = providerOf(world, channel);
  if (!provider) {
    throw failField("credentials", "credentials_not_used");
  }
  const reading = provider.readAccount(credentials);
  if (reading.outcome === "invalid") {
    throw failField(`credentials.${reading.field}`, "credentials_rejected", { reason: reading.reason });
  }
  return sealAccount(world, reading.account);
}

interface ConnectedNumber {
  readonly limits?: InboxNumberLimits | undefined;
}

/** @throws Failure `credentials_rejected`, `channel_unreachable`. */
async function connect(
  { account: stored, channel, phone_number: address }: Target,
  { world }: OutwardContext,
): Promise<ConnectedNumber> {
  const provider = providerOf(world, channel);
  if (!stored || !provider) {
    return {};
  }
  const account = openAccount(world, channel, stored);
  if (!account) {
    // A first request sealed the account and its process died; then the secret of the service was replaced.
    throw failField("credentials", "credentials_rejected", { reason: "they can't be read any more." });
  }
  const signal = AbortSignal.timeout(connectTimeoutMs);
  const result = await provider
    .connect({ account, address }, signal)
    .catch((error: unknown) => Promise.reject(fail("channel_unreachable", {}, error)));
  if (result.outcome === "unavailable") {
    throw fail("channel_unreachable");
  }
  if (result.outcome === "refused") {
    throw failField(`credentials.${result.field}`, "credentials_rejected", { reason: result.reason });
  }
  // The account works without limits too. A job reads them again every day.
  return { limits: await fetchLimits(world, { channel, account }).catch(() => undefined) };
}
