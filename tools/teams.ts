/** Teams: the agents who answer conversations, and how much each of them takes. */
import { z } from "zod";
import { id, jsonObject, timestamp, userId } from "./fields.ts";
import { one, operation } from "./operation.ts";

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
  created_at: timestamp,
  updated_at: timestamp,
});

export const teams = {
  create_team: operation({
    method: "POST",
    path: "/v1/teams",
    scope: "inbox:write",
    title: "Create team",
    description:
      "Create a team of agents. It receives conversations once it is active and has members (add_team_member); create_routing_policy sends them to it.",
    input: z.object({
      name: z.string().min(1).max(255).describe("Name"),
      description: z.string().max(1000).optional().describe("What the team does"),
      settings: jsonObject.default({}).describe("Free JSON object"),
      is_active: z.boolean().default(false).describe("Whether it receives conversations"),
      tier: z.int32().default(1).describe("Escalation tier; lower tiers come first"),
    }),
    output: one(Team),
    status: 201,
  }),

  add_team_member: operation({
    method: "POST",
    path: "/v1/teams/{id}/members",
    scope: "inbox:write",
    title: "Add team member",
    description: "Add a user to a team.",
    input: z.object({
      id: id("Team", "create_team"),
      user_id: userId,
      role: z.enum(memberRoles).describe("Role in the team"),
      is_available: z.boolean().default(true).describe("Whether conversations may be assigned"),
      max_concurrent_chats: z.int().min(1).max(100).default(5).describe("Most open conversations at once"),
      skills: z
        .array(z.string().min(1).max(64))
        .max(100)
        .default([])
        .describe("Tags for skills_based routing"),
    }),
    output: one(TeamMember),
    status: 201,
  }),
};
