/** Teams: groups of agents, with the capacity and skills of each member. */
import { z } from "zod";
import {
  DeletionResult,
  describedForTools,
  type ErrorEntry,
  errorEntry,
  id,
  inputTimestamp,
  jsonObject,
  one,
  operation,
  paged,
  paging,
  timestamp,
  userId,
} from "./contract/index.ts";

export const memberRoles = ["lead", "member", "supervisor"] as const;

const Team = z.object({
  id: z.string(),
  organization_id: z.string(),
  name: z.string(),
  description: z.string().nullable(),
  settings: z.record(z.string(), z.unknown()),
  is_active: z.boolean(),
  tier: z.int(),
  created_at: timestamp,
  updated_at: timestamp,
});

const TeamMember = z.object({
  id: z.string(),
  team_id: z.string(),
  user_id: z.string(),
  role: z.enum(memberRoles),
  is_available: z.boolean(),
  max_concurrent_chats: z.int(),
  current_chat_count: z.int(),
  skills: z.array(z.string()),
  unavailable_from: timestamp.nullable(),
  unavailable_until: timestamp.nullable(),
  created_at: timestamp,
  updated_at: timestamp,
});

/**
 * A warning about something that is valid but probably not intended, such as a team without agents that gets
 * conversations.
 */
export const TeamWarning = z.object({
  field: z.string(),
  code: z.string(),
  message: z.string(),
  fix: z.string(),
});

const name = z.string().min(1).max(255).describe("Name");
const description = z.string().max(1000).describe("What the team does");
const settings = jsonObject.describe("Custom JSON object");
const is_active = z.boolean().describe("Whether it is active");
const tier = z.int32().describe("Escalation tier, lowest first");
const role = z.enum(memberRoles).describe("Role");
const is_available = z.boolean().describe("Whether it gets conversations");
const max_concurrent_chats = z.int().min(1).max(100).describe("Most open conversations");
const away = inputTimestamp.nullable().optional();
const unavailable_from = away.describe("Away from");
const unavailable_until = away.describe("Back at");
const skills = z.array(z.string().min(1).max(64)).max(100).describe("Tags for skills_based routing");
const teamId = id("Team", "list_teams");
const memberId = id("Member", "list_team_members");

export const teams = {
  create_team: operation({
    method: "POST",
    path: "/v1/teams",
    scope: "inbox:write",
    title: "Create team",
    description:
      "Create a team of agents. It receives conversations once it is active, has members (add_team_member) and a policy (create_routing_policy).",
    input: z.object({
      name,
      description: description.optional(),
      settings: settings.default({}),
      is_active: is_active.default(false),
      tier: tier.default(1),
    }),
    output: one(Team.extend({ warnings: z.array(TeamWarning) })),
    status: 201,
  }),

  list_teams: operation({
    method: "GET",
    path: "/v1/teams",
    scope: "inbox:read",
    tier: "lean",
    title: "List teams",
    description:
      "List the teams, lowest tier first, with their members and the load of each. Change a member with update_team_member.",
    input: z.object(paging(25)),
    output: paged(
      Team.extend({
        members: z.array(
          TeamMember.pick({
            id: true,
            user_id: true,
            role: true,
            is_available: true,
            max_concurrent_chats: true,
            current_chat_count: true,
            skills: true,
          }).extend({ name: z.string() }),
        ),
      }),
    ),
  }),

  get_team: operation({
    method: "GET",
    path: "/v1/teams/{id}",
    scope: "inbox:read",
    title: "Get team",
    description: "Get one team. List its members with list_team_members.",
    input: z.object({ id: teamId }),
    output: one(Team.extend({ warnings: z.array(TeamWarning) })),
    tier: "extended",
  }),

  update_team: operation({
    method: "PUT",
    path: "/v1/teams/{id}",
    scope: "inbox:write",
    tier: "extended",
    title: "Update team",
    description: "Change, activate or deactivate a team. Only the fields sent change.",
    input: z.object({
      id: teamId,
      name: name.optional(),
      description: description.optional(),
      settings: settings.optional(),
      is_active: is_active.optional(),
      tier: tier.optional(),
    }),
    output: one(Team),
  }),

  delete_team: operation({
    method: "DELETE",
    path: "/v1/teams/{id}",
    scope: "inbox:write",
    tier: "extended",
    title: "Delete team",
    description:
      "Delete a team. Its conversations keep their agents. Fails while a routing policy targets it.",
    input: z.object({ id: teamId }),
    output: one(DeletionResult),
  }),

  add_team_member: operation({
    method: "POST",
    path: "/v1/teams/{id}/members",
    scope: "inbox:write",
    title: "Add team member",
    description: "Add a user to a team.",
    input: z.object({
      id: teamId,
      user_id: userId,
      role,
      is_available: is_available.default(true),
      max_concurrent_chats: max_concurrent_chats.default(5),
      skills: skills.default([]),
      unavailable_from,
      unavailable_until,
    }),
    output: one(
      TeamMember.extend({
        /** How many waiting conversations the member got. */
        assigned_from_queue: z.int(),
        warnings: z.array(TeamWarning),
      }),
    ),
    status: 201,
  }),

  list_team_members: operation({
    method: "GET",
    path: "/v1/teams/{id}/members",
    scope: "inbox:read",
    tier: "extended",
    title: "List team members",
    description: "List a team's members with their load, skills and availability.",
    input: z.object({ id: teamId, ...paging(25) }),
    output: paged(TeamMember.extend({ name: z.string(), email: z.string() })),
  }),

  update_team_member: operation({
    method: "PUT",
    path: "/v1/teams/{id}/members/{member_id}",
    scope: "inbox:write",
    tier: "extended",
    title: "Update team member",
    description:
      "Change a team member. Only the fields sent change. An unavailable member keeps assigned conversations and gets no new ones.",
    input: z.object({
      id: teamId,
      member_id: memberId,
      role: role.optional(),
      is_available: is_available.optional(),
      max_concurrent_chats: max_concurrent_chats.optional(),
      skills: skills.optional(),
      unavailable_from: describedForTools(unavailable_from, "Away from; empty removes it"),
      unavailable_until: describedForTools(unavailable_until, "Back at; empty removes it"),
    }),
    output: one(TeamMember),
  }),

  remove_team_member: operation({
    method: "DELETE",
    path: "/v1/teams/{id}/members/{member_id}",
    scope: "inbox:write",
    tier: "extended",
    title: "Remove team member",
    description: "Remove a user from a team. The user's conversations stay assigned.",
    input: z.object({ id: teamId, member_id: memberId }),
    output: one(DeletionResult),
  }),
};

export const teamErrors = {
  team_member_exists: errorEntry(
    "conflict",
    409,
    "This user is already a member of the team.",
    "Change the member in existing_id with update_team_member.",
  ),
  team_in_use: errorEntry(
    "conflict",
    409,
    "Routing policies target this team: {policies}.",
    "Delete the policies or change their target first.",
  ),
  team_not_found: errorEntry(
    "not_found",
    404,
    "There is no team with this id.",
    "Find the id with list_teams (GET /v1/teams).",
  ),
  absence_ends_first: errorEntry(
    "invalid_request",
    400,
    "unavailable_until must be after unavailable_from.",
    "Send a later unavailable_until, or remove one of them with null (in a tool, an empty text).",
  ),
  team_member_not_found: errorEntry(
    "not_found",
    404,
    "There is no member with this id in this team.",
    "Find the id with list_team_members.",
  ),
  not_a_member: errorEntry(
    "business_rule",
    422,
    "The user is not a member of this team.",
    "Add the user with add_team_member, or omit team_id.",
  ),
} as const satisfies Record<string, ErrorEntry>;
