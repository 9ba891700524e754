/**
 * The accounts of inboxes on a channel with accounts. Their credentials are stored sealed, and only
 * the channel gets them.
 *
 * Only this file knows the stored form, whose names are one provider's words for the ids of an account. An
 * earlier version, which may run beside this one, takes the ids from their columns and seals the other
 * credentials. This version writes the same form, and also reads credentials that are sealed whole, as a
 * later version can write them.
 */
import { type RawBuilder, sql } from "kysely";
import { z } from "zod";
import type { Queries } from "../../../database/database.ts";
import { ofOrganization } from "../../../database/query/index.ts";
import type { SealedText } from "../../../database/schema/index.ts";
import type { AccountIds, ChannelAccount } from "../../../ports/channel/account.ts";
import type { Transaction, World } from "../../foundation/kernel/index.ts";
import { type SealedColumn, type SealingSecrets, seal, tryUnseal } from "../../foundation/sealing/index.ts";

/** If the secrets of an inbox are lost, it can't send or receive until its credentials are sent again. */
export const sealedAccounts: SealedColumn = {
  table: "inbox_accounts",
  column: "secrets",
  key: ["organization_id", "inbox_id"],
  whenLost: "delete",
};

/** An account as it is stored, also in the intent of an operation. */
export const StoredAccount = z.object({
  phone_number_id: z.string(),
  waba_id: z.string(),
  app_id: z.string(),
  secrets: z.custom<SealedText>((value) => typeof value === "string"),
});
export type StoredAccount = z.infer<typeof StoredAccount>;

export function sealAccount(secrets: SealingSecrets, account: ChannelAccount): StoredAccount {
  const ids: Readonly<Record<string, unknown>> = {
    phone_number_id: account.account_id,
    waba_id: account.business_id,
    app_id: account.app_id,
  };
  const sealed = Object.entries(account.credentials).filter(([name, value]) => ids[name] !== value);
  return StoredAccount.parse({ ...ids, secrets: seal(secrets, JSON.stringify(Object.fromEntries(sealed))) });
}

/** Returns undefined if no secret of this service can open the account. */
export function openAccount(
  world: SealingSecrets & Pick<World, "channels">,
  channel: string,
  { secrets, ...ids }: StoredAccount,
): ChannelAccount | undefined {
  const opened = tryUnseal(world, secrets);
  const reading = opened && providerOf(world, channel)?.readAccount({ ...ids, ...JSON.parse(opened.text) });
  return reading?.outcome === "read" ? reading.account : undefined;
}

/** Undefined for a channel without accounts, or one that is not configured. */
export function providerOf({ channels }: Pick<World, "channels">, channel: string) {
  return channels[channel]?.provider;
}

/**
 * The stored account of a row of `inbox_accounts` named `account`, as part of a
 * statement; null without a row.
 */
export const storedAccount: RawBuilder<StoredAccount | null> = sql`
  case when account.inbox_id is not null then jsonb_build_object(
    'phone_number_id', account.phone_number_id, 'waba_id', account.waba_id, 'app_id', account.app_id,
    'secrets', account.secrets
  ) end`;

/**
 * The ids of the inboxes whose accounts are of the same business as the account of this inbox, as part of a
 * statement; none if it has no account.
 */
export function inboxesOfBusiness({ organization_id, inbox_id }: InboxName): RawBuilder<string> {
  return sql`
    select other.inbox_id
    from inbox_accounts as own join inbox_accounts as other
      on other.organization_id = own.organization_id and other.waba_id = own.waba_id
    where own.organization_id = ${organization_id} and own.inbox_id = ${inbox_id}`;
}

export interface InboxName {
  readonly organization_id: string;
  readonly inbox_id: string;
}

/** The stored account of an inbox with the inbox's channel; undefined if the inbox has no account. */
export async function findAccount(db: Queries, { organization_id, inbox_id }: InboxName) {
  return selectAccounts(db)
    .select(["phone_number_id", "waba_id", "app_id", "secrets", "poll_cursor", "last_webhook_at"])
    .where("account.organization_id", "=", organization_id)
    .where("inbox_id", "=", inbox_id)
    .executeTakeFirst();
}

export interface InboxAccount {
  readonly channel: string;
  readonly account: ChannelAccount;
  /** Where the next page of updates begins, on a channel that is asked for them; null before the first. */
  readonly cursor: string | null;
  /** When the provider last called the address of an inbox with this app. */
  readonly last_webhook_at: string | null;
}

/** The account of an inbox, with the inbox's channel; undefined if it has none. */
export async function readAccount(
  db: Queries,
  world: SealingSecrets & Pick<World, "channels">,
  name: InboxName,
): Promise<InboxAccount | undefined> {
  const row = await findAccount(db, name);
  if (!row) {
    return undefined;
  }
  const { channel, poll_cursor: cursor, last_webhook_at, ...stored } = row;
  const account = openAccount(world, channel, stored);
  return account && { channel, account, cursor, last_webhook_at };
}

/**
 * Every change of an inbox's account or health takes this lock first; what is read afterwards stays valid
 * until the commit.
 */
export async function lockInbox(tx: Transaction, { organization_id, inbox_id }: InboxName) {
  return ofOrganization(tx, organization_id)
    .selectFrom("inboxes")
    .select(["health", "alert"])
    .where("id", "=", inbox_id)
    .forNoKeyUpdate()
    .executeTakeFirst();
}

interface AppName extends Pick<AccountIds, "app_id"> {
  readonly organization_id: string;
  readonly channel: string;
}

/** The inboxes of an organization with an account of this app, and the ids of their accounts. */
export async function listAccounts(db: Queries, { organization_id, channel, app_id }: AppName) {
  return selectAccounts(db)
    .select(["inbox_id", "phone_number", "phone_number_id as account_id", "waba_id as business_id"])
    .where("account.organization_id", "=", organization_id)
    .where("channel", "=", channel)
    .where("app_id", "=", app_id)
    .execute();
}

function selectAccounts(db: Queries) {
  return db
    .selectFrom("inbox_accounts as account")
    .innerJoin("inboxes", (join) =>
      join
        .onRef("inboxes.organization_id", "=", "account.organization_id")
        .onRef("inboxes.id", "=", "account.inbox_id"),
    )
    .select("channel");
}

export async function storeAccount(
  tx: Transaction,
  name: InboxName,
  { account, now }: { readonly account: StoredAccount; readonly now: Date },
): Promise<void> {
  const row = { ...account, updated_at: now.toISOString() };
  // A cursor means something only to the account that gave it.
  const poll_cursor = sql<string | null>`
    case when inbox_accounts.phone_number_id = excluded.phone_number_id then inbox_accounts.poll_cursor end`;
  await tx
    .insertInto("inbox_accounts")
    .values({ ...name, ...row })
    .onConflict((conflict) =>
      conflict.columns(["organization_id", "inbox_id"]).doUpdateSet({ ...row, poll_cursor }),
    )
    .execute();
}

/** Does nothing if the account has been replaced, or another process has read the page too. */
export async function storeCursor(
  tx: Transaction,
  { organization_id, inbox_id }: InboxName,
  {
    account_id,
    from,
    to,
  }: { readonly account_id: string; readonly from: string | null; readonly to: string },
): Promise<void> {
  await ofOrganization(tx, organization_id)
    .updateTable("inbox_accounts")
    .set({ poll_cursor: to })
    .where("inbox_id", "=", inbox_id)
    .where("phone_number_id", "=", account_id)
    .where(sql<boolean>`poll_cursor is not distinct from ${from}`)
    .execute();
}
