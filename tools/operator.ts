/**
 * The operator of the service: creates organizations, suspends them, and sets their limits. Its operations
 * are no tools.
 */
import { z } from "zod";
import { ActList, actPage } from "./activity.ts";
import { operatorBilling } from "./billing.ts";
import {
  chosenPassword,
  country,
  type ErrorEntry,
  errorEntry,
  one,
  operation,
  paged,
  paging,
  timestamp,
} from "./contract/index.ts";
import { currency, organizationName, timeZone } from "./organization.ts";
import { operatorWallet } from "./wallet.ts";

/**
 * The limits that can differ from the settings of the service. Each is the maximum of the thing in its name.
 */
export const limitNames = [
  "api_keys",
  "cohorts",
  "flows",
  "imports",
  "inboxes",
  "knowledge_chunks",
  "knowledge_documents",
  "knowledge_qa_pairs",
  "knowledge_reading_seconds",
  "quick_replies",
  "routing_policies",
  "stored_mb",
  "team_members",
  "templates",
  "webhooks",
] as const;

export type LimitName = (typeof limitNames)[number];

/** An object with the same field for every limit. */
function eachLimit<Field extends z.ZodType>(field: Field): Readonly<Record<LimitName, Field>> {
  // The keys are exactly the names.
  return Object.fromEntries(limitNames.map((name) => [name, field])) as Record<LimitName, Field>;
}

const ManagedOrganization = z.object({
  id: z.string(),
  name: z.string(),
  status: z.enum(["active", "suspended"]),
  /** Null if the organization is not suspended. */
  suspended_at: timestamp.nullable(),
  suspension_reason: z.string().nullable(),
  time_zone: z.string(),
  default_country: z.string().nullable(),
  currency: z.string(),
  /** The limits that replace the limits in the settings. */
  limits: z.object(eachLimit(z.int().optional())),
  users: z.int(),
  inboxes: z.int(),
  created_at: timestamp,
});

const organizationId = z.string().min(1).max(64).describe("Organization id, from list_organizations");

export const NewOrganization = z.object({
  name: organizationName,
  owner: z
    .object({
      email: z.email("Send an e-mail address.").max(320).describe("E-mail address, used to sign in"),
      name: z.string().trim().min(1).max(255).describe("Name"),
      password: chosenPassword.optional(),
    })
    .describe("The first user. Without password, one is generated"),
  time_zone: timeZone.optional(),
  default_country: country.optional().describe("Two-letter country code (ISO 3166), for example DE"),
  currency: currency.optional(),
});
export type NewOrganization = z.output<typeof NewOrganization>;

export const operator = {
  create_organization: operation({
    method: "POST",
    path: "/operator/v1/organizations",
    credential: "operator",
    scope: null,
    title: "Create organization",
    description:
      "Create an organization with its owner, an inbox on the simulated channel and an API key with every scope. The key and a generated password are returned only in this response.",
    input: NewOrganization,
    output: one(
      z.object({
        organization: ManagedOrganization,
        owner: z.object({
          id: z.string(),
          email: z.string(),
          name: z.string(),
          password: z.string().optional(),
        }),
        api_key: z.object({ id: z.string(), name: z.string(), secret_key: z.string() }),
      }),
    ),
    status: 201,
    showsSecret: true,
    tools: {},
  }),

  list_operator_activity: operation({
    method: "GET",
    path: "/operator/v1/activity",
    credential: "operator",
    scope: null,
    title: "List operator activity",
    description:
      "List what the operator did, over this interface and by commands on the machine, the newest first.",
    input: z.object(actPage),
    output: ActList,
    tools: {},
  }),

  list_organizations: operation({
    method: "GET",
    path: "/operator/v1/organizations",
    credential: "operator",
    scope: null,
    title: "List organizations",
    description: "List the organizations, the newest first.",
    input: z.object({
      search: z.string().max(255).optional().describe("Part of a name"),
      status: z.enum(["active", "suspended"]).optional().describe("Only this status"),
      ...paging(25),
    }),
    output: paged(ManagedOrganization),
    tools: {},
  }),

  find_organization: operation({
    method: "GET",
    path: "/operator/v1/organizations/{id}",
    credential: "operator",
    scope: null,
    title: "Find organization",
    description: "Get one organization with its status, limits and numbers of users and inboxes.",
    input: z.object({ id: organizationId }),
    output: one(ManagedOrganization),
    tools: {},
  }),

  suspend_organization: operation({
    method: "POST",
    path: "/operator/v1/organizations/{id}/suspend",
    credential: "operator",
    scope: null,
    title: "Suspend organization",
    description:
      "Reject every credential of an organization from the next request on, and keep its jobs waiting. What its customers write is still stored.",
    input: z.object({
      id: organizationId,
      reason: z.string().trim().min(1).max(1000).describe("Why; shown to the operator only"),
    }),
    output: one(ManagedOrganization),
    tools: {},
  }),

  resume_organization: operation({
    method: "POST",
    path: "/operator/v1/organizations/{id}/resume",
    credential: "operator",
    scope: null,
    title: "Resume organization",
    description: "End the suspension of an organization: its credentials work again, and its jobs run.",
    input: z.object({ id: organizationId }),
    output: one(ManagedOrganization),
    tools: {},
  }),

  update_organization_limits: operation({
    method: "PUT",
    path: "/operator/v1/organizations/{id}/limits",
    credential: "operator",
    scope: null,
    title: "Update limits",
    description:
      "Replace limits of the settings for one organization. Only the limits sent change; null applies the setting again. What exceeds a lower limit already stays.",
    input: z.object({
      id: organizationId,
      limits: z
        .object(eachLimit(z.int().min(0).max(1_000_000_000).nullable().optional()))
        .describe("The most of each that the organization may have"),
    }),
    output: one(ManagedOrganization),
    tools: {},
  }),

  ...operatorWallet,
  ...operatorBilling,
};

export const operatorErrors = {
  operator_key_required: errorEntry(
    "authentication",
    401,
    "This route requires the operator's key.",
    "Send the value of the setting TIDINGS_OPERATOR_KEY in the X-API-Key header.",
  ),
  organization_suspended: errorEntry(
    "permission",
    403,
    "The organization is suspended.",
    "Contact the operator of this service.",
  ),
  organization_not_found: errorEntry(
    "not_found",
    404,
    "There is no organization with this id.",
    "Find the id with GET /operator/v1/organizations.",
  ),
} as const satisfies Record<string, ErrorEntry>;
