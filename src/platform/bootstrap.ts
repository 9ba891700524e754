/** The first start: one organization with an owner, an inbox on the simulated channel, and a full key. */
import { allScopes } from "../../tools/contract/index.ts";
import type { Database, Transaction } from "../database/database.ts";
import { newId } from "../database/id.ts";
import { insertKey } from "./api-keys.ts";
import { hashPassword, hashSecret, newKeySecret, newPassword, randomSecret } from "./identity/index.ts";
import { insertInbox } from "./inboxes.ts";
import { insertUser } from "./users.ts";

/** What the operator chose; what is left out is generated. */
export interface Owner {
  readonly email?: string | undefined;
  readonly password?: string | undefined;
  readonly key?: string | undefined;
}

/** What the first start created; its secrets are shown once. */
export interface FirstStart {
  readonly email: string;
  readonly password: string;
  readonly key: string;
  /** Whether the operator chose them, so that they need not be shown. */
  readonly isGiven: { readonly password: boolean; readonly key: boolean };
}

/** The number of a simulated inbox: reserved for fiction, so no real phone has it. */
const inboxNumber = "+14155550100";

export interface BootstrapOptions {
  readonly owner: Owner;
  /** The key that the processes of this data folder share. */
  readonly localKey: string | undefined;
  readonly now: Date;
  /** Called at once when the first organization was created: its secrets are not generated again. */
  onFirstStart?(created: FirstStart): void;
}

/**
 * Prepares a migrated database for the app: its first organization, the local key, and the secret.
 *
 * @returns the secret that signs tokens; generated once and shared by every process on this database.
 */
export async function bootstrap(database: Database, options: BootstrapOptions): Promise<string> {
  const { owner, localKey, now } = options;
  const created = await createFirstOrganization(database, owner, now);
  if (created) {
    options.onFirstStart?.(created);
  }
  if (localKey !== undefined) {
    await admitLocalKey(database, localKey, now);
  }
  return sharedSecret(database);
}

/** Creates the first organization if there is none; of several processes at once, one does. */
async function createFirstOrganization(
  database: Database,
  owner: Owner,
  now: Date,
): Promise<FirstStart | undefined> {
  const made = {
    email: owner.email ?? "owner@example.com",
    password: owner.password ?? newPassword(),
    key: owner.key ?? newKeySecret(),
    isGiven: { password: owner.password !== undefined, key: owner.key !== undefined },
  };
  const password_hash = await hashPassword(made.password);
  const isFirst = await database.transaction(async (tx) => {
    const organization = newId("org", now);
    if (!(await claim(tx, "first_organization", organization))) {
      return false;
    }
    await createOrganization(tx, { id: organization, name: "My organization", now });
    const user = await insertUser(tx, {
      organization,
      email: made.email,
      name: "Owner",
      role: "owner",
      password_hash,
      now,
    });
    await insertKey(tx, {
      organization,
      name: "First key",
      secret_key: made.key,
      scopes: allScopes,
      created_by: user?.id ?? null,
      now,
    });
    return true;
  });
  return isFirst ? made : undefined;
}

/** An organization with what it needs to answer at all: an inbox on the simulated channel. */
export async function createOrganization(
  tx: Transaction,
  { id, name, now }: { id: string; name: string; now: Date },
): Promise<void> {
  const created_at = now.toISOString();
  await tx.insertInto("organizations").values({ id, name, created_at }).execute();
  await insertInbox(tx, {
    organization: id,
    name: "Simulated WhatsApp",
    channel: "simulator",
    phone_number: inboxNumber,
    settings: {},
    now,
  });
}

/**
 * Makes the key that the data folder's processes share valid, whichever database is behind it; once, so that
 * one that was revoked stays so.
 */
async function admitLocalKey(database: Database, secret_key: string, now: Date): Promise<void> {
  await database.transaction(async (tx) => {
    if (!(await claim(tx, `local_key:${hashSecret(secret_key)}`, now.toISOString()))) {
      return;
    }
    const { value: organization } = await tx
      .selectFrom("settings")
      .select("value")
      .where("name", "=", "first_organization")
      .executeTakeFirstOrThrow();
    await insertKey(tx, {
      organization,
      name: "Processes on this machine",
      secret_key,
      scopes: allScopes,
      created_by: null,
      now,
    });
  });
}

async function sharedSecret(database: Database): Promise<string> {
  await database.transaction((tx) => claim(tx, "secret", randomSecret()));
  const { value } = await database.queries
    .selectFrom("settings")
    .select("value")
    .where("name", "=", "secret")
    .executeTakeFirstOrThrow();
  return value;
}

/** Sets a setting that nobody has set; false if somebody has. */
async function claim(tx: Transaction, name: string, value: string): Promise<boolean> {
  const { numInsertedOrUpdatedRows } = await tx
    .insertInto("settings")
    .values({ name, value })
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirst();
  return Boolean(numInsertedOrUpdatedRows);
}
