/** The errors of cohorts. */
import { type ErrorEntry, errorEntry } from "../contract/index.ts";

export const cohortErrors = {
  attribute_not_declared: errorEntry(
    "not_found",
    404,
    "The attribute metadata.{name} is not declared.",
    "See declared_attributes of describe_attributes (GET /v1/cohorts/attributes).",
  ),
  too_many_declared_attributes: errorEntry(
    "business_rule",
    422,
    "{limit} attributes have been declared, which is the limit; those no longer declared count too.",
    "Query the attribute without declaring it, or declare one again that was declared before.",
  ),
  cohort_in_use: errorEntry(
    "conflict",
    409,
    "{uses}, and needs this cohort.",
    "Change its cohort, cancel it or delete it first. Find it with list_broadcasts (GET /v1/broadcasts) or list_flows (GET /v1/automation/flows).",
  ),
  cohort_not_found: errorEntry(
    "not_found",
    404,
    "There is no cohort with this id.",
    "Find the id with list_cohorts (GET /v1/cohorts).",
  ),
  cohort_has_file: errorEntry(
    "business_rule",
    422,
    "The contacts of a csv cohort come from its file: it has no query.",
    "Leave query out, or create a cohort of type query.",
  ),
} as const satisfies Record<string, ErrorEntry>;
