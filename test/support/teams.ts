/** Creates users and the teams that they answer in. */
import type { CallOptions } from "../../src/client/index.ts";
import { newId } from "../../src/database/id.ts";
import type { InputOf } from "../../tools/contract/index.ts";
import { teams } from "../../tools/teams.ts";
import type { TestApp } from "./app.ts";

/** Creates a user who can't sign in; in the first organization by default. Returns the id. */
export async function insertAgent(app: TestApp, name: string, organization?: string): Promise<string> {
  const { queries } = app.server.database;
  const now = app.now();
  const id = newId("usr", now);
  const organization_id =
    organization ?? (await queries.selectFrom("organizations").select("id").executeTakeFirstOrThrow()).id;
  await queries
    .insertInto("users")
    .values({
      organization_id,
      id,
      email: `${id}@example.com`,
      name,
      role: "agent",
      password_hash: "",
      created_at: now.toISOString(),
      updated_at: now.toISOString(),
    })
    .execute();
  return id;
}

/** A member's settings; the user has the member's name. */
export type MemberInput = Omit<Partial<InputOf<typeof teams.add_team_member>>, "id" | "user_id">;

export interface CreatedTeam {
  readonly id: string;
  /** User ids by name. */
  readonly users: Readonly<Record<string, string>>;
  /** Member ids by name. */
  readonly members: Readonly<Record<string, string>>;
}

/** Creates an active team, and a new user for each member. */
export async function createTeamWithMembers(
  app: TestApp,
  team: Partial<InputOf<typeof teams.create_team>>,
  membersByName: Readonly<Record<string, MemberInput>>,
  options: CallOptions & { organization?: string } = {},
): Promise<CreatedTeam> {
  const { organization, ...call } = options;
  const { data: created } = await app.call(
    teams.create_team,
    { name: "Support", is_active: true, ...team },
    call,
  );
  const users: Record<string, string> = {};
  const members: Record<string, string> = {};
  for (const [name, member] of Object.entries(membersByName)) {
    const user_id = await insertAgent(app, name, organization);
    const input = { id: created.id, user_id, role: "member", ...member } as const;
    users[name] = user_id;
    members[name] = (await app.call(teams.add_team_member, input, call)).data.id;
  }
  return { id: created.id, users, members };
}

/** Returns the members whose chat count differs from the number of their conversations. */
export async function findWrongChatCounts(app: TestApp) {
  const { queries } = app.server.database;
  const members = await queries.selectFrom("team_members").selectAll().execute();
  const conversations = await queries
    .selectFrom("conversations")
    .selectAll()
    .where("status", "in", ["open", "pending"])
    .execute();
  return members
    .map((member) => ({
      user_id: member.user_id,
      counted: member.current_chat_count,
      has: conversations.filter((one) => one.team_id === member.team_id && one.assigned_to === member.user_id)
        .length,
    }))
    .filter(({ counted, has }) => counted !== has);
}
