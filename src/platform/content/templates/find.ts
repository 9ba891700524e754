/** Reads and stores templates. */
import { sql } from "kysely";
import { fail } from "../../../../tools/errors.ts";
import type { Queries } from "../../../database/database.ts";
import { ofOrganization, refersTo } from "../../../database/query/index.ts";
import type { TemplateInbox } from "../../../ports/channel/template-authority.ts";
import type { Transaction } from "../../foundation/kernel/index.ts";
import type { TemplateRow, TemplateState } from "./states.ts";

/**
 * Templates with the platform of their inbox, which is the `channel` of the contract, and
 * the inbox's channel.
 */
export function selectTemplates(db: Queries, organization: string) {
  return ofOrganization(db, organization)
    .selectFrom("templates")
    .innerJoin("inboxes", (join) => join.on(refersTo("templates.inbox_id", "inboxes")))
    .selectAll("templates")
    .select(["inboxes.platform as channel", "inboxes.channel as inbox_channel"]);
}

/** A template, as `selectTemplates` reads it. @throws Failure `template_not_found`. */
export async function getTemplate(db: Queries, organization: string, id: string, { forUpdate = false } = {}) {
  const template = await selectTemplates(db, organization)
    .where("templates.id", "=", id)
    .$if(forUpdate, (query) => query.forUpdate("templates"))
    .executeTakeFirst();
  if (!template) {
    throw fail("template_not_found");
  }
  return template;
}

/** A template, locked until the commit. @throws Failure `template_not_found`. */
export async function lockTemplate(tx: Transaction, organization: string, id: string) {
  return getTemplate(tx, organization, id, { forUpdate: true });
}

/** The inbox of a template, with the name of its channel. */
export async function getTemplateInbox(
  db: Queries,
  { organization_id, inbox_id }: Pick<TemplateRow, "organization_id" | "inbox_id">,
): Promise<TemplateInbox & { readonly channel: string }> {
  return ofOrganization(db, organization_id)
    .selectFrom("inboxes")
    .select(["organization_id", "id", "phone_number", "channel"])
    .where("id", "=", inbox_id)
    .executeTakeFirstOrThrow();
}

/** Converts a state to columns. */
export function toTemplateColumns({
  template_data,
  variables,
  submitted,
  edits_submitted_at,
  ...state
}: TemplateState) {
  return {
    ...state,
    template_data: JSON.stringify(template_data),
    variables: JSON.stringify(variables),
    submitted: submitted && JSON.stringify(submitted),
    edits_submitted_at: JSON.stringify(edits_submitted_at),
  };
}

/** Stores the new state of a locked template, and reports a change of its status. */
export async function storeState(
  tx: Transaction,
  { organization_id, id, status: previous_status }: Pick<TemplateRow, "organization_id" | "id" | "status">,
  { state, now }: { readonly state: TemplateState; readonly now: Date },
) {
  const stored = await ofOrganization(tx, organization_id)
    .updateTable("templates")
    .set({ ...toTemplateColumns(state), revision: sql<number>`revision + 1`, updated_at: now.toISOString() })
    .where("id", "=", id)
    .returningAll()
    .executeTakeFirstOrThrow();
  const { inbox_id, name, language, category, status, rejection_reason } = stored;
  if (status !== previous_status) {
    const described = { template_id: id, inbox_id, name, language, category };
    const data = { ...described, status, previous_status, rejection_reason };
    tx.emit({ type: "template.status_changed", organization_id, order: id, data });
  }
  return stored;
}

/** The columns of a row that are its state. */
export function stateOf(row: TemplateRow): TemplateState {
  const { category, status, template_data, variables, submitted, review_status, raw_status } = row;
  const { rejection_reason, quality_rating, external_id, missing_at_authority } = row;
  const { submitting_since, edits_submitted_at } = row;
  return {
    category,
    status,
    template_data,
    variables,
    submitted,
    review_status,
    raw_status,
    rejection_reason,
    quality_rating,
    external_id,
    missing_at_authority,
    submitting_since,
    edits_submitted_at,
  };
}

/** The id of the template that has the name in its language and inbox. */
export async function findNamed(
  db: Queries,
  {
    organization_id,
    inbox_id,
    name,
    language,
  }: Pick<TemplateRow, "organization_id" | "inbox_id" | "name" | "language">,
): Promise<string | undefined> {
  const template = await ofOrganization(db, organization_id)
    .selectFrom("templates")
    .select("id")
    .where((row) => row(row.fn<string>("lower", ["name"]), "=", name.toLowerCase()))
    .where("language", "=", language)
    .where("inbox_id", "=", inbox_id)
    .executeTakeFirst();
  return template?.id;
}
