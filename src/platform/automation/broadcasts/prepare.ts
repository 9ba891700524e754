/**
 * Checks what a broadcast sends: an approved template of its inbox, and a value for each of the template's
 * variables.
 */
import type { VariableMapping } from "../../../../tools/broadcasts/index.ts";
import { fail, failField } from "../../../../tools/errors.ts";
import type { SentTemplate } from "../../../database/schema/index.ts";
import { capabilitiesOf, getOrDefaultInbox } from "../../account/inboxes/index.ts";
import type { KeptFiles } from "../../content/media/index.ts";
import {
  type ApprovedTemplate,
  composeTemplate,
  placeholderValues,
  requireApprovedById,
  variableNames,
} from "../../content/templates/index.ts";
import type { Transaction, World } from "../../foundation/kernel/index.ts";
import { type Cohort, requireCohort } from "../cohorts/index.ts";
import type { BroadcastRow } from "./find.ts";

export interface Content {
  readonly inbox_id?: string | undefined;
  readonly template_id: string;
  readonly variable_mapping: VariableMapping;
  readonly header_media_url?: string | null | undefined;
}

/** @throws Failure `cohort_not_found`, `cohort_not_ready`. */
export async function requireReadyCohort(tx: Transaction, organization: string, id: string): Promise<Cohort> {
  const cohort = await requireCohort(tx, organization, id);
  if (cohort.status !== "ready") {
    throw fail("cohort_not_ready");
  }
  return cohort;
}

/** What a stored broadcast sends. */
export function broadcastContent(broadcast: BroadcastRow): Content {
  // Only validated input is stored.
  return { ...broadcast, variable_mapping: broadcast.variable_mapping as VariableMapping };
}

export interface PreparedContent {
  readonly template: ApprovedTemplate & { readonly inbox_id: string };
  readonly header: SentTemplate["header"];
  /** Keyed by the names of the variables. */
  readonly mapping: VariableMapping;
}

interface Requirements {
  /** A draft may have no mapping yet: only name, cohort and template are required to create one. */
  readonly isDraft?: boolean;
  /** The files that a plan keeps. */
  readonly files?: KeptFiles;
}

/**
 * @throws Failure `inbox_not_found`, `template_not_found`, `template_not_approved`, `variables_unmapped`, and
 *   the errors of `composeTemplate` for the header's file.
 */
export async function prepareContent(
  { tx, world }: { readonly tx: Transaction; readonly world: World },
  organization: string,
  { inbox_id, template_id, variable_mapping, header_media_url }: Content,
  { isDraft = false, files }: Requirements = {},
): Promise<PreparedContent> {
  const template = await requireApprovedById(tx, organization, template_id);
  const { name, language, version } = template;
  if (inbox_id !== undefined && inbox_id !== template.inbox_id) {
    await getOrDefaultInbox(tx, organization, inbox_id);
    const reason = `it belongs to the inbox ${template.inbox_id}.`;
    throw fail("template_not_approved", { name, language, reason, param: "inbox_id" });
  }
  const variablesOf = variableNames(version, Object.keys(variable_mapping));
  const { names, named } = variablesOf;
  const required = isDraft && named.size === 0 ? [] : variablesOf.required;
  const problems = [
    ...[...named].flatMap(([key, variable]) =>
      variable === undefined ? [`it has no variable ${key}.`] : [],
    ),
    ...required
      .filter((one) => ![...named.values()].includes(one))
      .map((one) => `nothing is mapped to ${one}.`),
    ...(new Set(named.values()).size < named.size
      ? ["a variable is mapped by its name and by its number."]
      : []),
  ];
  const [reason] = problems;
  if (reason !== undefined) {
    const expected = names.join(", ") || "none";
    throw failField("variable_mapping", "variables_unmapped", { name, reason, expected });
  }
  // The values don't matter: `composeTemplate` is called to check the header's file.
  const variables = placeholderValues(version);
  const { media } = capabilitiesOf(world, await getOrDefaultInbox(tx, organization, template.inbox_id));
  if (version.template_data.authentication) {
    throw fail("code_not_sendable", { sender: "a broadcast", param: "template_id" });
  }
  const { template: composed } = await composeTemplate(
    tx,
    { template, media, files },
    {
      name,
      language,
      variables,
      ...(header_media_url ? { header_media_url } : {}),
    },
  );
  const mapping = Object.fromEntries(
    Object.entries(variable_mapping).map(([key, value]) => [named.get(key) ?? key, value]),
  );
  return { template, header: composed.header, mapping };
}
