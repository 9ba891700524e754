/** Finds the approved templates of a name and language, and suggests alternatives. */
import { sql } from "kysely";
import { nearestName } from "../../../../../tools/contract/index.ts";
import { fail } from "../../../../../tools/errors.ts";
import type { Queries } from "../../../../database/database.ts";
import { ofOrganization } from "../../../../database/query/index.ts";
import { getTemplate } from "../find.ts";
import { hasSameTexts, isSendable, type TemplateRow } from "../states.ts";
import type { ApprovedTemplate } from "./sendable.ts";

interface TemplateName {
  readonly organization: string;
  readonly name: string;
  readonly language: string;
}

/** The templates of this name and language: at most one in each inbox. */
export async function findTemplates(
  db: Queries,
  { organization, name, language }: TemplateName,
): Promise<readonly TemplateRow[]> {
  return ofOrganization(db, organization)
    .selectFrom("templates")
    .selectAll()
    .where((row) => row(row.fn<string>("lower", ["name"]), "=", name.toLowerCase()))
    .where("language", "=", language)
    .execute();
}

/**
 * Returns the template that the inbox may send, out of these templates.
 * @throws Failure `template_not_approved`, with the alternatives that are approved.
 */
export async function requireApproved(
  db: Queries,
  rows: readonly TemplateRow[],
  wanted: TemplateName & { readonly inbox_id: string },
): Promise<ApprovedTemplate> {
  const row = rows.find(({ inbox_id }) => inbox_id === wanted.inbox_id);
  if (row?.submitted && isSendable(row)) {
    const { organization_id, id, name, language, submitted: version } = row;
    return { organization_id, id, name, language, version };
  }
  const { organization, name, language } = wanted;
  const elsewhere = rows.find(isSendable);
  const known = row ?? rows[0];
  const reason = elsewhere
    ? `it is approved for another inbox: send inbox_id ${elsewhere.inbox_id}.`
    : known
      ? describeStatus(known)
      : await describeOthers(db, { organization, name });
  throw fail("template_not_approved", { name, language, reason, param: "template.name" });
}

/**
 * The approved version of a template, with its inbox.
 * @throws Failure `template_not_found`, `template_not_approved`.
 */
export async function requireApprovedById(
  db: Queries,
  organization: string,
  id: string,
): Promise<ApprovedTemplate & { readonly inbox_id: string }> {
  const row = await getTemplate(db, organization, id);
  const { organization_id, inbox_id, name, language, submitted: version } = row;
  if (!version || !isSendable(row)) {
    throw fail("template_not_approved", {
      name,
      language,
      reason: describeStatus(row),
      param: "template_id",
    });
  }
  return { organization_id, id, inbox_id, name, language, version };
}

function describeStatus({ status, missing_at_authority }: TemplateRow): string {
  return missing_at_authority
    ? "the review authority no longer has it."
    : `it is ${status === "draft" ? "a draft" : status}.`;
}

/** How many names are compared with an unknown name. */
const maxNames = 500;

async function describeOthers(db: Queries, { organization, name }: Omit<TemplateName, "language">) {
  const rows = await selectApproved(db, organization).select(["name", "language"]).limit(maxNames).execute();
  const languages = rows
    .filter((row) => row.name.toLowerCase() === name.toLowerCase())
    .map((row) => row.language);
  if (languages.length > 0) {
    return `it is approved in ${[...new Set(languages)].sort().join(", ")}.`;
  }
  const nearest = nearestName(name, [...new Set(rows.map((row) => row.name))]);
  return nearest === undefined ? "there is none of this name." : `did you mean ${nearest}?`;
}

/** The same condition as `isSendable`, in SQL. */
function selectApproved(db: Queries, organization: string) {
  return ofOrganization(db, organization)
    .selectFrom("templates")
    .where("review_status", "=", "approved")
    .where("status", "in", ["approved", "draft"])
    .where("missing_at_authority", "=", false)
    .where("submitted", "is not", null);
}

/** Whether the template can be sent, and its texts are still those of this version. */
export async function isVersionSendable(
  db: Queries,
  organization: string,
  { id, version }: Pick<ApprovedTemplate, "id" | "version">,
): Promise<boolean> {
  const row = await selectApproved(db, organization)
    .select("submitted")
    .where("id", "=", id)
    .executeTakeFirst();
  const submitted = row?.submitted ?? null;
  return submitted !== null && hasSameTexts(submitted, version);
}

const maxSuggestions = 3;

/** Approved utility templates of the inbox, templates with the fewest variables first. */
export async function suggestTemplates(
  db: Queries,
  { organization, inbox_id }: { readonly organization: string; readonly inbox_id: string },
) {
  const rows = await selectApproved(db, organization)
    .select(["name", "language", "submitted"])
    .where("inbox_id", "=", inbox_id)
    .where(sql<boolean>`submitted ->> 'category' = 'utility'`)
    .orderBy(sql`jsonb_array_length(submitted -> 'variables')`)
    .orderBy("id", "desc")
    .limit(maxSuggestions)
    .execute();
  return rows.map(({ name, language, submitted }) => ({
    name,
    language,
    variables: submitted?.variables.map((variable) => variable.name) ?? [],
  }));
}
