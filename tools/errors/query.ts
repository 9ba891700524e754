/** Conditions that a query of contacts or conversations can't have. */
import { type Entry, entry } from "./entry.ts";

export const queryErrors = {
  query_malformed: entry(
    "invalid_request",
    400,
    "This is no query: {reason}",
    'Send {"attribute":"tags","operator":"has_any","value":["vip"]}, or a group: {"and":[…]}, {"or":[…]} or {"not":{…}}.',
  ),
  query_too_large: entry(
    "invalid_request",
    400,
    "The query has more than {limit} {counted}.",
    "Send a smaller query: {limit} {counted} are the most.",
  ),
  unknown_attribute: entry(
    "invalid_request",
    400,
    "Unknown attribute: {value}.",
    "Known attributes: {known}.",
  ),
  unknown_operator: entry("invalid_request", 400, "Unknown operator: {value}.", "Known operators: {known}."),
  operator_not_applicable: entry(
    "invalid_request",
    400,
    "{operator} can't be asked of {attribute}, whose type is {attribute_type}.",
    "Use one of: {known}.",
  ),
  query_value_invalid: entry(
    "invalid_request",
    400,
    "The value does not fit {operator} on {attribute}.",
    "Send {expected}.",
  ),
} as const satisfies Record<string, Entry>;
