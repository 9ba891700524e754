/**
 * Prepares a migrated database at each start of a process. The first start creates an organization, its
 * owner, its first inbox, and an API key with all scopes.
 */
import { allScopes } from "../../../tools/contract/index.ts";
import type { Database, DatabaseTransaction } from "../../database/database.ts";
import { newId } from "../../database/id.ts";
import type { FirstInbox } from "../../ports/channel/first-inbox.ts";
import { insertKey } from "../account/api-keys/index.ts";
import {
  hashPassword,
  hashSecret,
  newKeySecret,
  newPassword,
  randomSecret,
} from "../account/identity/index.ts";
import { insertInbox } from "../account/inboxes/index.ts";
import { insertOrganization, type NewOrganizationRow } from "../account/organization/index.ts";
import { insertUser } from "../account/users.ts";
import {
  type AppSecrets,
  type ResealOptions,
  resealAll,
  type SealingSecrets,
} from "../foundation/sealing/index.ts";
import { insertSetting, readSetting } from "../foundation/settings.ts";

/** The operator's choices for the first start; omitted values are generated. */
export interface OwnerOptions {
  readonly email?: string | undefined;
  readonly password?: string | undefined;
  readonly key?: string | undefined;
}

/** The credentials that the first start created. They are shown once. */
export interface BootstrapResult {
  readonly email: string;
  readonly password: string;
  readonly key: string;
  /** Whether the operator chose the value, so that it need not be shown. */
  readonly isProvided: { readonly password: boolean; readonly key: boolean };
}

export interface BootstrapOptions {
  readonly owner: OwnerOptions;
  readonly firstInbox: FirstInbox;
  /** The API key that the processes of this data folder share. */
  readonly localKey: string | undefined;
  readonly now: Date;
  /** The secrets of the configuration, and the values that are sealed with them. */
  readonly secrets: { readonly secret: string | undefined } & Pick<AppSecrets, "previousSecret">;
  readonly sealed: Omit<ResealOptions, "secrets" | "now">;
  /** Called right after the first organization was created: its secrets cannot be read again. */
  onFirstStart?(created: BootstrapResult): void;
}

/**
 * Seals all stored values with the secret in use, creates the first organization unless there is one, and
 * registers the local key.
 *
 * @returns the secrets that open stored values.
 * @throws if no secret opens some of the stored values.
 */
export async function bootstrap(database: Database, options: BootstrapOptions): Promise<SealingSecrets> {
  const { localKey, now } = options;
  const generatedSecret = await loadOrCreateSecret(database);
  const secrets = {
    secret: options.secrets.secret ?? generatedSecret,
    previousSecret: options.secrets.previousSecret,
    generatedSecret,
  };
  // Runs first, so that a start with a wrong secret changes and prints nothing.
  await resealAll(database, { ...options.sealed, secrets, now });
  const created = await createFirstOrganization(database, options);
  if (created) {
    options.onFirstStart?.(created);
  }
  if (localKey !== undefined) {
    await registerLocalKey(database, localKey, now);
  }
  return secrets;
}

/** Creates the first organization unless it exists; safe when several processes start at once. */
async function createFirstOrganization(
  database: Database,
  { owner, firstInbox, now }: BootstrapOptions,
): Promise<BootstrapResult | undefined> {
  // Hashing a password is slow on purpose, so it is done only on the first start.
  if (await readSetting(database, "first_organization")) {
    return undefined;
  }
  const created: BootstrapResult = {
    email: owner.email ?? "owner@example.com",
    password: owner.password ?? newPassword(),
    key: owner.key ?? newKeySecret(),
    isProvided: { password: owner.password !== undefined, key: owner.key !== undefined },
  };
  const password_hash = await hashPassword(created.password);
  const isFirst = await database.transaction(async (tx) => {
    const organization = newId("org", now);
    if (!(await insertSetting(tx, "first_organization", organization))) {
      return false;
    }
    await createOrganization(tx, { id: organization, name: "My organization", now }, firstInbox);
    const user = await insertUser(tx, {
      organization,
      email: created.email,
      name: "Owner",
      role: "owner",
      password_hash,
      now,
    });
    await insertKey(tx, {
      organization,
      name: "First key",
      secret_key: created.key,
      scopes: allScopes,
      created_by: user?.id ?? null,
      now,
    });
    return true;
  });
  return isFirst ? created : undefined;
}

/** Creates an organization with its first inbox. */
export async function createOrganization(
  tx: DatabaseTransaction,
  organization: NewOrganizationRow,
  firstInbox: FirstInbox,
): Promise<void> {
  const { id, now } = organization;
  await insertOrganization(tx, organization);
  await insertInbox(tx, { organization: id, ...firstInbox, settings: {}, now });
}

/**
 * Inserts the API key that the processes of this data folder share. A key is inserted only once, so that a
 * revoked key stays revoked.
 */
async function registerLocalKey(database: Database, secret_key: string, now: Date): Promise<void> {
  await database.transaction(async (tx) => {
    if (!(await insertSetting(tx, `local_key:${hashSecret(secret_key)}`, now.toISOString()))) {
      return;
    }
    const { value: organization } = await tx
      .selectFrom("settings")
      .select("value")
      .where("name", "=", "first_organization")
      .executeTakeFirstOrThrow();
    await insertKey(tx, {
      organization,
      name: "Commands and assistants of this machine",
      secret_key,
      scopes: allScopes,
      created_by: null,
      now,
    });
  });
}

/** Returns the secret of the database, which is generated once and shared by all its processes. */
async function loadOrCreateSecret(database: Database): Promise<string> {
  const existing = await readSetting(database, "secret");
  if (existing !== undefined) {
    return existing;
  }
  const created = randomSecret();
  const isFirst = await database.transaction((tx) => insertSetting(tx, "secret", created));
  return isFirst ? created : loadOrCreateSecret(database);
}
