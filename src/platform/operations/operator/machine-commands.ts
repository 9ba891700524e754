/** The commands that the operator runs on the machine of the service: organizations, API keys and users. */
import { z } from "zod";
import { inputTimestamp, readScope } from "../../../../tools/contract/index.ts";
import { fail } from "../../../../tools/errors.ts";
import { operator as contract, NewOrganization } from "../../../../tools/operator.ts";
import { users } from "../../../../tools/users.ts";
import { deleteKey, insertKey, listKeys } from "../../account/api-keys/index.ts";
import { createSignInLink } from "../../account/auth/index.ts";
import {
  hashPassword,
  newKeySecret,
  newPassword,
  requireActiveOrganization,
} from "../../account/identity/index.ts";
import { resumeOrganization, suspendOrganization } from "../../account/organization/index.ts";
import {
  findFirstOwner,
  findUserByEmail,
  insertUser,
  listUsers,
  replacePassword,
} from "../../account/users.ts";
import type { World } from "../../foundation/kernel/index.ts";
import { recordCommand } from "../activity/index.ts";
import { ReleaseInput, RepeatInput, releaseRestored, repeatErasures } from "../restore/index.ts";
import { listOrganizations, prepareOrganization, requireOrganization } from "./organizations.ts";

interface Command {
  readonly input: z.ZodObject;
  run(input: unknown, world: World): Promise<unknown>;
}

/** Infers the type of the input. */
function command<Input extends z.ZodObject>(
  input: Input,
  run: (input: z.output<Input>, world: World) => Promise<unknown>,
): Command {
  // The route passes input that the schema has parsed.
  return { input, run: (parsed, world) => run(parsed as z.output<Input>, world) };
}

/** Default: the first organization, which the first start created. */
const organization = z.string().max(64).optional();

const NewKey = z.object({
  organization,
  name: z.string().min(1).max(255),
  scopes: z.array(z.string().max(64)).min(1).max(50),
  expires_at: inputTimestamp.optional(),
});

const NewUser = z.object({
  organization,
  ...users.create_user.input.pick({ email: true, name: true, role: true }).shape,
});

const { email } = users.create_user.input.shape;

const UserFilters = users.list_users.input.extend({ organization });

export const machineCommands: ReadonlyMap<string, Command> = new Map([
  ["create-organization", command(NewOrganization, createOrganization)],
  [
    "list-organizations",
    command(contract.list_organizations.input, async (filters, { database }) =>
      contract.list_organizations.output.parse(await listOrganizations(database.queries, filters)),
    ),
  ],
  [
    "find-organization",
    command(contract.find_organization.input, async ({ id }, { database }) =>
      requireOrganization(database.queries, id),
    ),
  ],
  [
    "suspend-organization",
    command(contract.suspend_organization.input, ({ id, reason }, world) =>
      world.database.transaction(async (tx) => {
        await suspendOrganization(tx, id, { reason, now: world.now() });
        recordCommand(tx, world, { organization_id: id, name: "suspend-organization", ids: [] });
        return await requireOrganization(tx, id);
      }),
    ),
  ],
  [
    "resume-organization",
    command(contract.resume_organization.input, ({ id }, world) =>
      world.database.transaction(async (tx) => {
        await resumeOrganization(tx, id);
        recordCommand(tx, world, { organization_id: id, name: "resume-organization", ids: [] });
        return await requireOrganization(tx, id);
      }),
    ),
  ],
  ["create-key", command(NewKey, createKey)],
  ["list-keys", command(z.object({ organization }), listKeysOf)],
  ["revoke-key", command(z.object({ organization, id: z.string().min(1).max(64) }), revokeKey)],
  ["create-user", command(NewUser, createUser)],
  ["list-users", command(UserFilters, listUsersOf)],
  ["reset-password", command(z.object({ email }), resetPassword)],
  ["repeat-erasures", command(RepeatInput, repeatErasures)],
  ["release", command(ReleaseInput, releaseRestored)],
  ["create-sign-in-link", command(z.object({ user: email.optional() }), createLink)],
]);

async function createOrganization(input: NewOrganization, world: World) {
  const { database, now, firstInbox } = world;
  const create = await prepareOrganization(input);
  const data = await database.transaction(async (tx) => {
    const created = await create(tx, { now: now(), firstInbox });
    const organization_id = created.organization.id;
    const ids = [created.owner.id, created.api_key.id];
    recordCommand(tx, world, { organization_id, name: "create-organization", ids });
    return created;
  });
  return contract.create_organization.output.parse({ data }).data;
}

async function createKey(input: z.output<typeof NewKey>, world: World) {
  const { name, expires_at } = input;
  const organization_id = await resolveOrganization(world, input.organization);
  const scopes = input.scopes.flatMap((scope) => readScope(scope) ?? []);
  const secret_key = newKeySecret();
  const values = { organization: organization_id, name, secret_key, scopes, expires_at, created_by: null };
  const key = await world.database.transaction(async (tx) => {
    const inserted = await insertKey(tx, { ...values, now: world.now() });
    recordCommand(tx, world, { organization_id, name: "create-key", ids: [inserted.id] });
    return inserted;
  });
  return { id: key.id, organization_id, name, secret_key, scopes, expires_at: key.expires_at };
}

async function listKeysOf(input: { readonly organization?: string | undefined }, world: World) {
  const organization_id = await resolveOrganization(world, input.organization);
  const keys = await listKeys(world.database.queries, organization_id, world.now());
  return keys.map(({ id, name, prefix, scopes, is_active, last_used_at, expires_at, created_at }) => ({
    id,
    organization_id,
    name,
    prefix,
    scopes,
    is_active,
    last_used_at,
    expires_at,
    created_at,
  }));
}

async function revokeKey(
  input: { readonly organization?: string | undefined; readonly id: string },
  world: World,
) {
  const organization_id = await resolveOrganization(world, input.organization);
  await world.database.transaction(async (tx) => {
    await deleteKey(tx, organization_id, input.id);
    recordCommand(tx, world, { organization_id, name: "revoke-key", ids: [input.id] });
  });
  return { id: input.id, organization_id };
}

async function createUser(input: z.output<typeof NewUser>, world: World) {
  const { email, name, role } = input;
  const organization_id = await resolveOrganization(world, input.organization);
  const password = newPassword();
  const password_hash = await hashPassword(password);
  const values = { organization: organization_id, email, name, role, password_hash, now: world.now() };
  const user = await world.database.transaction(async (tx) => {
    const inserted = await insertUser(tx, values);
    if (inserted) {
      recordCommand(tx, world, { organization_id, name: "create-user", ids: [inserted.id] });
    }
    return inserted;
  });
  if (!user) {
    throw fail("user_exists", { param: "email" });
  }
  return { id: user.id, organization_id, email, name, role, password };
}

async function listUsersOf({ organization: id, ...filters }: z.output<typeof UserFilters>, world: World) {
  const organization_id = await resolveOrganization(world, id);
  return users.list_users.output.parse(await listUsers(world.database.queries, organization_id, filters));
}

/** Resets the password. All sessions of the user end. */
async function resetPassword({ email }: { readonly email: string }, world: World) {
  const password = newPassword();
  const password_hash = await hashPassword(password);
  const user = await world.database.transaction(async (tx) => {
    const found = await findUserByEmail(tx, email);
    const changed = found && (await replacePassword(tx, found, { password_hash, now: world.now() }));
    if (changed) {
      const { organization_id, id } = changed;
      recordCommand(tx, world, { organization_id, name: "reset-password", ids: [id] });
    }
    return changed;
  });
  if (!user) {
    throw fail("user_not_found");
  }
  return { id: user.id, organization_id: user.organization_id, email: user.email, password };
}

/**
 * Makes a link by which a person signs in to the console; without a `user`, the owner of the first
 * organization.
 */
async function createLink({ user: address }: { readonly user?: string | undefined }, world: World) {
  const organization = await resolveOrganization(world, undefined);
  const { user, link } = await world.database.transaction(async (tx) => {
    const found = await (address === undefined
      ? findFirstOwner(tx, organization)
      : findUserByEmail(tx, address));
    if (!found?.is_active) {
      throw fail("user_not_found");
    }
    const { organization_id, id } = found;
    await requireActiveOrganization(tx, organization_id);
    recordCommand(tx, world, { organization_id, name: "create-sign-in-link", ids: [id] });
    return { user: found, link: await createSignInLink(tx, found, world.now()) };
  });
  const { id, organization_id, email: to, role } = user;
  return { ...link, address: world.addresses.service(), user: { id, organization_id, email: to, role } };
}

/** @throws Failure `organization_not_found`. */
async function resolveOrganization({ database }: World, id: string | undefined): Promise<string> {
  if (id !== undefined) {
    return (await requireOrganization(database.queries, id)).id;
  }
  const first = await database.queries
    .selectFrom("settings")
    .select("value")
    .where("name", "=", "first_organization")
    .executeTakeFirstOrThrow();
  return first.value;
}
