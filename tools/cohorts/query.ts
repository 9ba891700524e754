/** The language of conditions in routing and cohorts: its operators and errors. */
import { type ErrorEntry, errorEntry } from "../contract/index.ts";

/** The operators of a condition; the query engine defines how each one compares. */
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
