/** The queries of the simulated review authority's tables. */
import { type Insertable, type Selectable, sql, type Updateable } from "kysely";
import type { DatabaseTransaction, Queries } from "../../../../database/database.ts";
import { ofOrganization } from "../../../../database/query/index.ts";
import type { Tables } from "../../../../database/schema/index.ts";
import { ReviewSettings } from "./input.ts";

type Templates = Tables["simulator_templates"];
export type StoredTemplate = Selectable<Templates>;
export type TemplateKey = Pick<StoredTemplate, "organization_id" | "external_id">;

/** Undefined if the inbox has this name in this language already. */
export function insertTemplate(
  tx: DatabaseTransaction,
  template: Insertable<Templates>,
): Promise<StoredTemplate | undefined> {
  return tx
    .insertInto("simulator_templates")
    .values(template)
    .onConflict((conflict) =>
      conflict.columns(["organization_id", "phone_number", "name", "language"]).doNothing(),
    )
    .returningAll()
    .executeTakeFirst();
}

export function lockStoredTemplate(
  tx: DatabaseTransaction,
  { organization_id, external_id }: TemplateKey,
): Promise<StoredTemplate | undefined> {
  return ofOrganization(tx, organization_id)
    .selectFrom("simulator_templates")
    .selectAll()
    .where("external_id", "=", external_id)
    .forUpdate()
    .executeTakeFirst();
}

export function updateTemplate(
  tx: DatabaseTransaction,
  { organization_id, external_id }: TemplateKey,
  changes: Updateable<Templates>,
): Promise<StoredTemplate> {
  return ofOrganization(tx, organization_id)
    .updateTable("simulator_templates")
    .set(changes)
    .where("external_id", "=", external_id)
    .returningAll()
    .executeTakeFirstOrThrow();
}

export async function deleteStoredTemplate(
  tx: DatabaseTransaction,
  { organization_id, external_id }: TemplateKey,
): Promise<void> {
  await ofOrganization(tx, organization_id)
    .deleteFrom("simulator_templates")
    .where("external_id", "=", external_id)
    .execute();
}

/** Which templates of an organization; a field that is not given selects all. */
export interface TemplateSelection {
  readonly organization_id: string;
  /** In lower case. */
  readonly name?: string | undefined;
  readonly language?: string | undefined;
  readonly phone_number?: string | undefined;
}

function select(queries: Queries, { organization_id, ...filters }: TemplateSelection) {
  const { name, language, phone_number } = filters;
  return ofOrganization(queries, organization_id)
    .selectFrom("simulator_templates")
    .$if(name !== undefined, (query) => query.where("name", "=", name ?? ""))
    .$if(language !== undefined, (query) => query.where("language", "=", language ?? ""))
    .$if(phone_number !== undefined, (query) => query.where("phone_number", "=", phone_number ?? ""));
}

/** In the order of their ids, so that two decisions never wait for each other. */
export function lockTemplates(
  tx: DatabaseTransaction,
  selection: TemplateSelection,
): Promise<StoredTemplate[]> {
  return select(tx, selection).selectAll().orderBy("external_id").forUpdate().execute();
}

/** The templates with ids after `after`, in the order of their ids. */
export function listAfter(
  queries: Queries,
  selection: TemplateSelection,
  { after, limit }: { readonly after: string; readonly limit: number },
): Promise<StoredTemplate[]> {
  return select(queries, selection)
    .selectAll()
    .where("external_id", ">", after)
    .orderBy("external_id")
    .limit(limit)
    .execute();
}

/** Newest first, and how many there are. */
export async function listNewest(queries: Queries, organization_id: string, limit: number) {
  const all = select(queries, { organization_id });
  const templates = await all.selectAll().orderBy("external_id", "desc").limit(limit).execute();
  const { total } = await all.select(sql<number>`count(*)::int`.as("total")).executeTakeFirstOrThrow();
  return { templates, total };
}

/** Names and languages that exist; those of `name` first. */
export function listTemplateNames(
  queries: Queries,
  { name = "", ...selection }: TemplateSelection,
  limit: number,
) {
  return select(queries, selection)
    .select(["name", "language"])
    .groupBy(["name", "language"])
    .orderBy(({ eb }) => eb("name", "=", name), "desc")
    .orderBy("name")
    .orderBy("language")
    .limit(limit)
    .execute();
}

export async function readReviewSettings(queries: Queries, organization_id: string): Promise<ReviewSettings> {
  const row = await ofOrganization(queries, organization_id)
    .selectFrom("simulator_reviews")
    .select("review")
    .executeTakeFirst();
  return ReviewSettings.parse(row?.review ?? {});
}

export async function replaceSettings(
  queries: Queries,
  organization_id: string,
  settings: ReviewSettings,
): Promise<void> {
  const review = JSON.stringify(settings);
  await queries
    .insertInto("simulator_reviews")
    .values({ organization_id, review })
    .onConflict((conflict) => conflict.column("organization_id").doUpdateSet({ review }))
    .execute();
}
