/** Routing: the policies by which waiting conversations find an agent. */
import { z } from "zod";
import { id, jsonObject, timestamp } from "./fields.ts";
import { one, operation } from "./operation.ts";

export const routingStrategies = [
  "round_robin",
  "weighted",
  "load_balanced",
  "skills_based",
  "sticky",
] as const;
export const routingTargets = ["team", "user"] as const;

const RoutingPolicy = z.object({
  id: z.string(),
  organization_id: z.string(),
  name: z.string(),
  description: z.string(),
  strategy: z.enum(routingStrategies),
  priority: z.int(),
  conditions: z.record(z.string(), z.unknown()),
  target_type: z.enum(routingTargets),
  target_id: z.string().nullable(),
  settings: z.record(z.string(), z.unknown()),
  is_active: z.boolean(),
  created_at: timestamp,
  updated_at: timestamp,
});

export const routing = {
  create_routing_policy: operation({
    method: "POST",
    path: "/v1/routing/policies",
    scope: "inbox:write",
    title: "Create routing policy",
    description:
      "Route new conversations to a team or a user by itself. assign_conversation assigns a single one by hand.",
    input: z.object({
      name: z.string().min(1).max(255).describe("Name"),
      description: z.string().max(1000).default("").describe("What it is for"),
      strategy: z.enum(routingStrategies).describe("How an agent is chosen; sticky: the last one again"),
      priority: z.int32().default(0).describe("Higher is matched first"),
      conditions: jsonObject
        .default({})
        .describe("Which conversations, as create_cohort's query; all when empty"),
      target_type: z.enum(routingTargets).describe("What target_id is"),
      target_id: id("Team or user", "create_team or get_conversation").optional(),
      settings: jsonObject
        .default({})
        .describe(
          'For weighted {"weights":{"<user id>":2}}, skills_based {"required_skills":["fr"]}, sticky {"ttl_days":30}',
        ),
      is_active: z.boolean().default(true).describe("Whether it is in force"),
    }),
    output: one(RoutingPolicy),
    status: 201,
  }),
};
