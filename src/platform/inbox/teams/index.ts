/** Teams: the agents who answer conversations, and the capacity of each. */
import type { Selectable } from "kysely";
import { fail, failField } from "../../../../tools/errors.ts";
import { teams as contract } from "../../../../tools/teams.ts";
import type { Queries } from "../../../database/database.ts";
import { newId } from "../../../database/id.ts";
import { ofOrganization, readPage, refersTo } from "../../../database/query/index.ts";
import type { Tables } from "../../../database/schema/index.ts";
import { requireBelowQuota } from "../../account/organization/index.ts";
import { capacityFreed } from "../../account/users.ts";
import { implement, type Transaction } from "../../foundation/kernel/index.ts";
import { memberAdded, teamDeleted } from "./hooks.ts";
import { findIdleTeams } from "./warnings.ts";

export { findAbsentAgents, isAvailableAt } from "./availability.ts";
export { memberAdded, teamDeleted } from "./hooks.ts";
export { applyLoadChanges, countFreeCapacity, countsAsLoad, type LoadChange } from "./load.ts";
export { findIdleTeams, type TeamReference } from "./warnings.ts";

/** Returns the ids that belong to a team of the organization. */
export async function findTeams(
  db: Queries,
  organization: string,
  ids: readonly string[],
): Promise<ReadonlySet<string>> {
  const rows = await ofOrganization(db, organization)
    .selectFrom("teams")
    .select("id")
    .where("id", "in", ids.length > 0 ? ids : [""])
    .execute();
  return new Set(rows.map(({ id }) => id));
}

export const teams = implement(contract, {
  tables: ["teams", "team_members"],
  operations: {
    async create_team({ description = null, ...input }, { tx, organization, now }) {
      const team = await tx
        .insertInto("teams")
        .values({
          ...input,
          organization_id: organization,
          id: newId("team", now),
          description,
          settings: JSON.stringify(input.settings),
          created_at: now.toISOString(),
          updated_at: now.toISOString(),
        })
        .returningAll()
        .executeTakeFirstOrThrow();
      return { data: { ...team, warnings: await warnOf(tx, team, now) } };
    },

    async list_teams(paging, { db, organization }) {
      const query = ofOrganization(db, organization)
        .selectFrom("teams")
        .selectAll()
        .orderBy("tier")
        .orderBy("id");
      const { rows, meta } = await readPage(query, paging);
      const ids = rows.map(({ id }) => id);
      const members = ids.length > 0 ? await selectMembers(db, organization, ids).execute() : [];
      const data = rows.map((team) => ({
        ...team,
        members: members.filter(({ team_id }) => team_id === team.id),
      }));
      return { data, meta };
    },

    async get_team({ id }, { db, organization, now }) {
      const team = await getTeam(db, organization, id);
      return { data: { ...team, warnings: await warnOf(db, team, now) } };
    },

    async update_team({ id, settings, ...changes }, context) {
      const { tx, organization, now } = context;
      await getTeam(tx, organization, id, { locks: true });
      const team = await ofOrganization(tx, organization)
        .updateTable("teams")
        .set({
          ...changes,
          settings: settings && JSON.stringify(settings),
          updated_at: now.toISOString(),
        })
        .where("id", "=", id)
        .returningAll()
        .executeTakeFirstOrThrow();
      await capacityFreed.run(context.world, context, organization);
      return { data: team };
    },

    async delete_team({ id }, context) {
      const { tx, world, organization } = context;
      const team = { organization, team_id: id };
      await getTeam(tx, organization, id, { locks: true });
      await teamDeleted.run(world, context, team);
      await lockMembers(tx, organization, id);
      // Again: a conversation may have been assigned to a member before the members were locked.
      await teamDeleted.run(world, context, team);
      await ofOrganization(tx, organization).deleteFrom("teams").where("id", "=", id).execute();
      return { data: { deleted: true as const } };
    },

    async add_team_member({ id, user_id, ...input }, context) {
      const { tx, world, organization, now } = context;
      await requireBelowQuota(context, "team_members", tx.selectFrom("team_members"));
      const team = await getTeam(tx, organization, id, { locks: true });
      await requireNewMember(tx, organization, { team_id: id, user_id });
      requireAbsence(input);
      const member = await tx
        .insertInto("team_members")
        .values({
          ...input,
          organization_id: organization,
          team_id: id,
          user_id,
          id: newId("mem", now),
          unavailable_since: input.is_available ? null : now.toISOString(),
          // Counted by `memberAdded`.
          current_chat_count: 0,
          created_at: now.toISOString(),
          updated_at: now.toISOString(),
        })
        .returningAll()
        .executeTakeFirstOrThrow();
      const own = await memberAdded.run(world, context, { organization, team_id: id, user_id });
      const { current_chat_count } = await getMember(tx, organization, { team_id: id, id: member.id });
      const assigned_from_queue = own.reduce((rest, count) => rest - count, current_chat_count);
      const warnings = await warnOf(tx, team, now);
      return { data: { ...member, current_chat_count, assigned_from_queue, warnings } };
    },

    async list_team_members({ id, ...paging }, { db, organization }) {
      await getTeam(db, organization, id);
      const { rows, meta } = await readPage(selectMembers(db, organization, [id]), paging);
      return { data: rows, meta };
    },

    async update_team_member({ id, member_id, ...changes }, context) {
      const { tx, organization, now } = context;
      const before = await getMember(tx, organization, { team_id: id, id: member_id });
      const { is_available = before.is_available } = changes;
      requireAbsence({ ...before, ...changes });
      const member = await ofOrganization(tx, organization)
        .updateTable("team_members")
        .set({
          ...changes,
          unavailable_since: is_available ? null : (before.unavailable_since ?? now.toISOString()),
          updated_at: now.toISOString(),
        })
        .where("id", "=", member_id)
        .returningAll()
        .executeTakeFirstOrThrow();
      await capacityFreed.run(context.world, context, organization);
      return { data: member };
    },

    async remove_team_member({ id, member_id }, { tx, organization }) {
      await getMember(tx, organization, { team_id: id, id: member_id });
      await ofOrganization(tx, organization).deleteFrom("team_members").where("id", "=", member_id).execute();
      return { data: { deleted: true as const } };
    },
  },
});

async function getTeam(db: Queries, organization: string, id: string, { locks = false } = {}) {
  const team = await ofOrganization(db, organization)
    .selectFrom("teams")
    .selectAll()
    .where("id", "=", id)
    .$if(locks, (query) => query.forUpdate())
    .executeTakeFirst();
  if (!team) {
    throw fail("team_not_found");
  }
  return team;
}

async function warnOf(
  db: Queries,
  { organization_id, id }: Pick<TeamRow, "organization_id" | "id">,
  now: Date,
) {
  const references = [{ field: "id", id }];
  return [...(await findIdleTeams(db, organization_id, { references, now }))];
}

type TeamRow = Selectable<Tables["teams"]>;

/** @throws Failure `absence_ends_first`. */
function requireAbsence({
  unavailable_from: from = null,
  unavailable_until: until = null,
}: {
  readonly unavailable_from?: string | null | undefined;
  readonly unavailable_until?: string | null | undefined;
}): void {
  if (from !== null && until !== null && Date.parse(until) <= Date.parse(from)) {
    throw failField("unavailable_until", "absence_ends_first");
  }
}

/** The member, locked until the commit. @throws Failure `team_not_found` or `team_member_not_found`. */
async function getMember(
  tx: Transaction,
  organization: string,
  { team_id, id }: { team_id: string; id: string },
): Promise<Selectable<Tables["team_members"]>> {
  await getTeam(tx, organization, team_id);
  const member = await ofOrganization(tx, organization)
    .selectFrom("team_members")
    .selectAll()
    .where("team_id", "=", team_id)
    .where("id", "=", id)
    .forUpdate()
    .executeTakeFirst();
  if (!member) {
    throw fail("team_member_not_found", { param: "member_id" });
  }
  return member;
}

/** The members of these teams with the users' names, the oldest first. */
function selectMembers(db: Queries, organization: string, team_ids: readonly string[]) {
  return ofOrganization(db, organization)
    .selectFrom("team_members")
    .innerJoin("users", (join) => join.on(refersTo("team_members.user_id", "users")))
    .selectAll("team_members")
    .select(["users.name", "users.email"])
    .where("team_members.team_id", "in", team_ids)
    .orderBy("team_members.id");
}

/**
 * Locks the members in the order in which routing locks them; a plain delete would lock them in any order.
 */
async function lockMembers(tx: Transaction, organization: string, team_id: string): Promise<void> {
  await ofOrganization(tx, organization)
    .selectFrom("team_members")
    .select("id")
    .where("team_id", "=", team_id)
    .orderBy("user_id")
    .forUpdate()
    .execute();
}

interface Membership {
  readonly team_id: string;
  readonly user_id: string;
}

/**
 * The team must be locked, so that the same user is not added concurrently.
 * @throws Failure `user_not_found` or `team_member_exists`.
 */
async function requireNewMember(
  tx: Transaction,
  organization: string,
  { team_id, user_id }: Membership,
): Promise<void> {
  const user = await ofOrganization(tx, organization)
    .selectFrom("users")
    .leftJoin("team_members", (join) =>
      join.on(refersTo("team_members.user_id", "users")).on("team_members.team_id", "=", team_id),
    )
    .select("team_members.id as existing_id")
    .where("users.id", "=", user_id)
    .executeTakeFirst();
  if (!user) {
    throw fail("user_not_found", { param: "user_id" });
  }
  if (user.existing_id !== null) {
    throw fail("team_member_exists", { existing_id: user.existing_id, param: "user_id" });
  }
}
