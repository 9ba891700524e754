/** Creates drafts. */
import { fail } from "../../../../tools/errors.ts";
import type { Authentication, TemplateData, Variable } from "../../../../tools/templates/index.ts";
import { getOrDefaultInbox } from "../../account/inboxes/index.ts";
import { getOrganization, requireBelowQuota } from "../../account/organization/index.ts";
import { freshId, type WriteContext } from "../../foundation/kernel/index.ts";
import { getAccessibleUploadAt } from "../uploads/index.ts";
import { findNamed, toTemplateColumns } from "./find.ts";
import { requireLanguage } from "./review/index.ts";
import { requireSample, sampleField } from "./sample.ts";
import { serializeTemplate } from "./serialize.ts";
import { createState } from "./states.ts";
import { resolveVariables } from "./variables.ts";
import type { Version } from "./version.ts";

interface NewTemplate {
  readonly name: string;
  readonly language?: string | undefined;
  readonly inbox_id?: string | undefined;
  readonly variables?: readonly Variable[] | undefined;
}

/** @throws Failure `inbox_not_found`, `template_language_unknown`, `template_exists` and of its parts. */
export async function createTemplate(
  context: WriteContext,
  { name, ...input }: NewTemplate,
  { category, template_data }: Omit<Version, "variables">,
) {
  const { tx, world, organization, caller, now } = context;
  await requireBelowQuota(context, "templates", tx.selectFrom("templates"));
  const inbox = await getOrDefaultInbox(tx, organization, input.inbox_id);
  const language = input.language ?? (await getOrganization(tx, organization)).default_language ?? "en";
  requireLanguage(world, inbox.channel, language);
  const variables = resolveVariables(template_data, input.variables);
  await getAccessibleUploadAt(tx, caller, template_data.header?.media_url, sampleField);
  await requireSample(context, inbox, template_data);
  const template = await tx
    .insertInto("templates")
    .values({
      organization_id: organization,
      id: freshId({ now }, "tpl"),
      inbox_id: inbox.id,
      name,
      language,
      ...toTemplateColumns(createState({ category, template_data, variables })),
      created_at: now.toISOString(),
      updated_at: now.toISOString(),
    })
    .onConflict((conflict) => conflict.doNothing())
    .returningAll()
    .executeTakeFirst();
  if (!template) {
    // Another call has taken the name, or a sync that adds the authority's templates.
    const key = { organization_id: organization, inbox_id: inbox.id, name, language };
    throw fail("template_exists", { existing_id: await findNamed(tx, key), param: "name" });
  }
  return { ...serializeTemplate(template), channel: inbox.platform };
}

/** The code, by which a message gives it. */
export const codeVariable: Variable = { name: "code", component: "BODY", example: "123456" };

/** The text of the channel, in English. After the review, the template has the text in its language. */
export function textsForCodes({
  add_security_recommendation,
  code_expiration_minutes: minutes,
}: Authentication): Pick<TemplateData, "body" | "footer"> {
  const advice = add_security_recommendation ? " For your security, do not share this code." : "";
  return {
    body: `*{{1}}* is your verification code.${advice}`,
    ...(minutes === undefined ? {} : { footer: `This code expires in ${minutes} minutes.` }),
  };
}
