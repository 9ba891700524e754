/** Cohorts: saved filters that select the contacts of a broadcast. */
import { z } from "zod";
import { type ErrorEntry, errorEntry, jsonObject, one, operation, timestamp } from "./contract/index.ts";

export const cohortTypes = ["query", "csv"] as const;

/** The operators of a condition; the query engine defines what each compares. */
export const queryOperators = [
  "eq",
  "neq",
  "contains",
  "not_contains",
  "starts_with",
  "ends_with",
  "in",
  "not_in",
  "gt",
  "gte",
  "lt",
  "lte",
  "between",
  "exists",
  "not_exists",
  "before",
  "after",
  "within_last",
  "not_within_last",
  "has_any",
  "has_all",
] as const;
export type QueryOperator = (typeof queryOperators)[number];

const Cohort = z.object({
  id: z.string(),
  organization_id: z.string(),
  name: z.string(),
  description: z.string().nullable(),
  type: z.enum(cohortTypes),
  csv_url: z.string().nullable(),
  query: z.record(z.string(), z.unknown()),
  contact_count: z.int(),
  created_at: timestamp,
  updated_at: timestamp,
});

const NewCohort = z
  .object({
    name: z.string().min(1).max(255).describe("Name"),
    query: jsonObject.describe(
      `Conditions, for example {"and":[{"attribute":"tags","operator":"has_any","value":["vip"]}]}; also or, not, nested. Operators: ${queryOperators.join(", ")}. Attributes: name, phone_number, country, tags, created_at, last_user_message_at, metadata.<path>`,
    ),
    type: z.enum(cohortTypes).default("query").describe("csv: the contacts of a file"),
    csv_url: z
      .url({ protocol: /^https?$/ })
      .max(2048)
      .optional()
      .describe("Public address, for csv"),
    description: z.string().max(1000).optional().describe("Which contacts it selects"),
  })
  .superRefine(({ type, csv_url }, context) => {
    if (type === "csv" && csv_url === undefined) {
      context.addIssue({ code: "custom", path: ["csv_url"], message: "A cohort of type csv needs csv_url." });
    }
  });

export const cohorts = {
  create_cohort: operation({
    method: "POST",
    path: "/v1/cohorts",
    scope: "broadcasts:create",
    title: "Create cohort",
    description:
      "Save an audience for broadcasts. Count the contacts that a query matches first with preview_cohort.",
    input: NewCohort,
    output: one(Cohort),
    status: 201,
  }),

  preview_cohort: operation({
    method: "POST",
    path: "/v1/cohorts/preview-query",
    scope: { any: ["broadcasts:read", "broadcasts:create", "contacts:read"] },
    title: "Preview cohort",
    description: "Count the contacts that a query matches now, without saving anything.",
    input: z.object({ query: jsonObject.describe("Conditions, as a cohort's query") }),
    output: one(z.object({ contact_count: z.int() })),
    effect: "read",
  }),
};

export const queryErrors = {
  query_malformed: errorEntry(
    "invalid_request",
    400,
    "The query is not valid: {reason}",
    'Send {"attribute":"tags","operator":"has_any","value":["vip"]}, or a group: {"and":[…]}, {"or":[…]} or {"not":{…}}.',
  ),
  query_too_large: errorEntry(
    "invalid_request",
    400,
    "The query has more than {limit} {counted}.",
    "Send a query with at most {limit} {counted}.",
  ),
  unknown_attribute: errorEntry(
    "invalid_request",
    400,
    "Unknown attribute: {value}.",
    "Known attributes: {known}.",
  ),
  unknown_operator: errorEntry(
    "invalid_request",
    400,
    "Unknown operator: {value}.",
    "Known operators: {known}.",
  ),
  operator_not_applicable: errorEntry(
    "invalid_request",
    400,
    "{operator} does not apply to {attribute}, whose type is {attribute_type}.",
    "Use one of: {known}.",
  ),
  query_value_invalid: errorEntry(
    "invalid_request",
    400,
    "The value does not fit {operator} on {attribute}.",
    "Send {expected}.",
  ),
} as const satisfies Record<string, ErrorEntry>;
