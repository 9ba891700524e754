/**
 * The accounts of inboxes on a real channel. Their secrets are stored sealed, and are passed only to the
 * channel.
 */
import { z } from "zod";
import type { Queries } from "../../../database/database.ts";
import { ofOrganization } from "../../../database/query/index.ts";
import type { Sealed } from "../../../database/schema/index.ts";
import type { ChannelAccount } from "../../../ports/channel.ts";
import type { Transaction } from "../../foundation/kernel/index.ts";
import { type SealedColumn, type SealSecrets, seal, tryUnseal } from "../../foundation/sealing/index.ts";

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
  secrets: z.custom<Sealed>((value) => typeof value === "string"),
});
export type StoredAccount = z.infer<typeof StoredAccount>;

const Secrets = z.object({ access_token: z.string(), app_secret: z.string(), verify_token: z.string() });

export function sealAccount(secrets: SealSecrets, account: ChannelAccount): StoredAccount {
  const { phone_number_id, waba_id, app_id, access_token, app_secret, verify_token } = account;
  const text = JSON.stringify({ access_token, app_secret, verify_token });
  return { phone_number_id, waba_id, app_id, secrets: seal(secrets, text) };
}

/** Returns undefined if no secret of this service can open the account. */
export function openAccount(
  world: SealSecrets,
  { phone_number_id, waba_id, app_id, secrets }: StoredAccount,
): ChannelAccount | undefined {
  const opened = tryUnseal(world, secrets);
  return opened && { phone_number_id, waba_id, app_id, ...Secrets.parse(JSON.parse(opened.text)) };
}

export interface InboxName {
  readonly organization_id: string;
  readonly inbox_id: string;
}

/** The stored account of an inbox with the inbox's channel; undefined if the inbox has no account. */
export async function findAccount(db: Queries, { organization_id, inbox_id }: InboxName) {
  return selectAccounts(db)
    .select(["secrets", "app_id"])
    .where("inbox_accounts.organization_id", "=", organization_id)
    .where("inbox_id", "=", inbox_id)
    .executeTakeFirst();
}

/** The opened account of an inbox; undefined if the inbox has none. */
export async function readAccount(
  db: Queries,
  world: SealSecrets,
  name: InboxName,
): Promise<ChannelAccount | undefined> {
  const row = await findAccount(db, name);
  return row && openAccount(world, row);
}

/**
 * Every change of an inbox's account or health takes this lock first; what is read afterwards stays valid
 * until the commit.
 */
export async function lockInbox(tx: Transaction, { organization_id, inbox_id }: InboxName) {
  return ofOrganization(tx, organization_id)
    .selectFrom("inboxes")
    .select("health")
    .where("id", "=", inbox_id)
    .forNoKeyUpdate()
    .executeTakeFirst();
}

/** The inboxes of an organization with an account of this app. */
export async function listAccounts(
  db: Queries,
  { organization_id, app_id }: { readonly organization_id: string; readonly app_id: string },
) {
  return selectAccounts(db)
    .select(["inbox_id", "phone_number"])
    .where("inbox_accounts.organization_id", "=", organization_id)
    .where("app_id", "=", app_id)
    .execute();
}

function selectAccounts(db: Queries) {
  return db
    .selectFrom("inbox_accounts")
    .innerJoin("inboxes", (join) =>
      join
        .onRef("inboxes.organization_id", "=", "inbox_accounts.organization_id")
        .onRef("inboxes.id", "=", "inbox_accounts.inbox_id"),
    )
    .select(["phone_number_id", "waba_id", "channel"]);
}

export async function storeAccount(
  tx: Transaction,
  name: InboxName,
  { account, now }: { readonly account: StoredAccount; readonly now: Date },
): Promise<void> {
  const row = { ...account, updated_at: now.toISOString() };
  await tx
    .insertInto("inbox_accounts")
    .values({ ...name, ...row })
    .onConflict((conflict) => conflict.columns(["organization_id", "inbox_id"]).doUpdateSet(row))
    .execute();
}
