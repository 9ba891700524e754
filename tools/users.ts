/** Users: the members of an organization, who sign in and answer conversations. */
import { z } from "zod";
import {
  chosenPassword,
  type ErrorEntry,
  errorEntry,
  id,
  one,
  operation,
  paged,
  paging,
  timestamp,
  yes,
} from "./contract/index.ts";

/** From the most to the least privileged role; each role has a set of scopes. */
export const roles = ["owner", "admin", "supervisor", "agent"] as const;

const User = z.object({
  id: z.string(),
  organization_id: z.string(),
  email: z.string(),
  name: z.string(),
  role: z.enum(roles),
  is_active: z.boolean(),
  created_at: timestamp,
  updated_at: timestamp,
});

export const emailAddress = z.email("Send an e-mail address.").max(320);
export const personName = z.string().trim().min(1).max(255).describe("Name");

const email = emailAddress.describe("E-mail address, used to sign in");
const role = z.enum(roles).describe("Role; agents answer conversations");

export const users = {
  list_users: operation({
    method: "GET",
    path: "/v1/users",
    scope: "inbox:read",
    tier: "lean",
    title: "List users",
    description: "List the organization's users, who are its agents, with their roles.",
    input: z.object({
      search: z.string().max(255).optional().describe("Part of a name or an e-mail address"),
      role: z.enum(roles).optional().describe("Only this role"),
      ...paging(25),
    }),
    output: paged(User.omit({ organization_id: true })),
  }),

  create_user: operation({
    method: "POST",
    path: "/v1/users",
    credential: "person",
    scope: "tokens:create",
    title: "Create user",
    description:
      "Create a user who can sign in. Without password, one is generated and returned only in this response. Only an owner can make an owner. Requires a signed-in person's access token.",
    input: z.object({
      email,
      name: personName,
      role: role.default("agent"),
      password: chosenPassword.optional(),
    }),
    output: one(User.extend({ password: z.string().optional() })),
    status: 201,
    showsSecret: true,
    tools: {},
  }),

  update_user: operation({
    method: "PUT",
    path: "/v1/users/{id}",
    credential: "person",
    scope: "tokens:create",
    title: "Update user",
    description:
      "Change a user's name, role or password, or deactivate the user. Only the fields sent change. A new password or is_active false ends the user's sessions immediately, and is_active false the keys they created. Only an owner can change an owner. Requires a signed-in person's access token.",
    input: z.object({
      id: id("User", "list_users"),
      name: personName.optional(),
      role: role.optional(),
      password: chosenPassword.optional(),
      is_active: z.boolean().optional().describe("false: can't sign in and receives no conversations"),
    }),
    output: one(User),
    hints: { destructive: yes("A replaced password, and ended sessions and keys, can't be restored.") },
    tools: {},
  }),
};

export const userErrors = {
  user_exists: errorEntry(
    "conflict",
    409,
    "A user with this e-mail address already exists.",
    "Use another address, or find the user with list_users (GET /v1/users).",
  ),
  owner_required: errorEntry(
    "permission",
    403,
    "The role {role} can't change an owner, nor make a user an owner.",
    "Ask an owner of the organization.",
  ),
  last_owner: errorEntry(
    "conflict",
    409,
    "An organization must have an active owner.",
    "Make another user an owner first.",
  ),
  user_not_found: errorEntry(
    "not_found",
    404,
    "There is no user with this id.",
    "Find the id with list_users (GET /v1/users).",
  ),
  user_inactive: errorEntry(
    "business_rule",
    422,
    "The user is deactivated and receives no conversations.",
    "Choose another user (GET /v1/users).",
  ),
} as const satisfies Record<string, ErrorEntry>;
