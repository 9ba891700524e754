/** The people of a test: users, and the teams that they answer in. */

import type { CallOptions } from "../../src/client/index.ts";
import { newId } from "../../src/database/id.ts";
import type { InputOf } from "../../tools/contract/index.ts";
import { teams } from "../../tools/teams.ts";
import type { House } from "./house.ts";

/** A user of the organization (the first one when left out); the password opens nothing. */
export async function hire(house: House, name: string, organization?: string): Promise<string> {
  const { queries } = house.app.database;
  const now = house.now();
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

/** How a member is to be; the user is hired under the member's name. */
export type Wanted = Omit<Partial<InputOf<typeof teams.add_team_member>>, "id" | "user_id">;

export interface Team {
  readonly id: string;
  /** User ids by name. */
  readonly users: Readonly<Record<string, string>>;
  /** Member ids by name. */
  readonly members: Readonly<Record<string, string>>;
}

/** An active team with members who are hired for it. */
export async function makeTeam(
  house: House,
  given: Partial<InputOf<typeof teams.create_team>>,
  wanted: Readonly<Record<string, Wanted>>,
  options: CallOptions & { organization?: string } = {},
): Promise<Team> {
  const { organization, ...call } = options;
  const { data: team } = await house.call(
    teams.create_team,
    { name: "Support", is_active: true, ...given },
    call,
  );
  const users: Record<string, string> = {};
  const members: Record<string, string> = {};
  for (const [name, member] of Object.entries(wanted)) {
    const user_id = await hire(house, name, organization);
    const input = { id: team.id, user_id, role: "member", ...member } as const;
    users[name] = user_id;
    members[name] = (await house.call(teams.add_team_member, input, call)).data.id;
  }
  return { id: team.id, users, members };
}

/** What is wrong with the members' counts: empty when each equals a recount of the conversations. */
export async function miscounts(house: House) {
  const { queries } = house.app.database;
  const members = await queries.selectFrom("team_members").selectAll().execute();
  const threads = await queries
    .selectFrom("conversations")
    .selectAll()
    .where("status", "in", ["open", "pending"])
    .execute();
  return members
    .map((member) => ({
      user_id: member.user_id,
      counted: member.current_chat_count,
      has: threads.filter((t) => t.team_id === member.team_id && t.assigned_to === member.user_id).length,
    }))
    .filter(({ counted, has }) => counted !== has);
}
