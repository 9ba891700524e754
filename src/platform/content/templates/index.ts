/** Templates: the operations of `tools/templates/`, and the functions that other modules call. */
import { fail } from "../../../../tools/errors.ts";
import { templates as contract, readOnlyParts } from "../../../../tools/templates/index.ts";
import { containsText, ofOrganization, readPage } from "../../../database/query/index.ts";
import { lockOrganization } from "../../account/organization/index.ts";
import { implement, type WriteContext } from "../../foundation/kernel/index.ts";
import { getAccessibleUploadAt } from "../uploads/index.ts";
import { codeVariable, createTemplate, textsForCodes } from "./create.ts";
import { findNamed, getTemplate, lockTemplate, selectTemplates, stateOf, storeState } from "./find.ts";
import {
  deleteTemplate,
  requireLanguage,
  submitTemplate,
  syncPendingTemplatesJob,
  syncTemplates,
  syncTemplatesJob,
} from "./review/index.ts";
import { requireSample, sampleField } from "./sample.ts";
import { serializeTemplate } from "./serialize.ts";
import { edit, isEditable, isSendable } from "./states.ts";
import { resolveVariables } from "./variables.ts";

export { requestSync, requireTemplates } from "./review/index.ts";
export {
  type ApprovedTemplate,
  composeTemplate,
  createComposer,
  findTemplates,
  invalidValueCodes,
  isVersionSendable,
  placeholderValues,
  requireApproved,
  requireApprovedById,
  suggestTemplates,
  textOfTemplate,
  variableNames,
} from "./sending/index.ts";

export { isSendable } from "./states.ts";
export { templateWithdrawn } from "./withdrawn.ts";

export const templates = implement(contract, {
  tables: ["templates"],
  operations: {
    async create_template(input, context) {
      const { category, template_data } = input;
      return { data: await createTemplate(context, input, { category, template_data }) };
    },

    async create_otp_template({ message_send_ttl_seconds, ...input }, context) {
      const { name: _, language: __, inbox_id: ___, ...authentication } = input;
      const template_data = {
        ...textsForCodes(authentication),
        authentication,
        ...(message_send_ttl_seconds === undefined ? {} : { message_send_ttl_seconds }),
      };
      const version = { category: "authentication", template_data } as const;
      return { data: await createTemplate(context, { ...input, variables: [codeVariable] }, version) };
    },

    async list_templates({ status, category, language, search, sort, ...paging }, { db, organization }) {
      const query = selectTemplates(db, organization)
        .$if(status !== undefined, (rows) => rows.where("status", "=", status ?? "draft"))
        .$if(category !== undefined, (rows) => rows.where("category", "=", category ?? "utility"))
        .$if(language !== undefined, (rows) => rows.where("language", "=", language ?? ""))
        .$if(search !== undefined, (rows) => rows.where(containsText(search ?? "", "templates.name")));
      const { rows, meta } = await readPage(orders[sort](query), paging);
      return { data: rows.map((row) => ({ ...row, is_sendable: isSendable(row) })), meta };
    },

    async get_template({ id }, { db, organization }) {
      return { data: serializeTemplate(await getTemplate(db, organization, id)) };
    },

    async update_template({ id, name, language, category, template_data, variables }, context) {
      const { tx, organization, caller, now } = context;
      if (name !== undefined || language !== undefined) {
        // Locked before the template, as in every call that takes a name.
        await lockOrganization(tx, organization);
      }
      const template = await lockTemplate(tx, organization, id);
      const { inbox_channel, status: current_state, review_status } = template;
      const parts = readOnlyParts(template.template_data);
      if (parts.length > 0) {
        throw fail("template_read_only", { parts: parts.join(" and ") });
      }
      if (!isEditable(template)) {
        throw fail("template_not_editable", { current_state });
      }
      if (category !== undefined && category !== template.category && review_status === "approved") {
        throw fail("template_category_fixed", { category: template.category, param: "category" });
      }
      const data = template_data ?? template.template_data;
      await getAccessibleUploadAt(tx, caller, template_data?.header?.media_url, sampleField);
      await requireSample(context, { channel: inbox_channel }, data);
      const changes = {
        category: category ?? template.category,
        template_data: data,
        variables: resolveVariables(data, variables, template),
      };
      await rename(context, template, { name, language });
      const state = edit(stateOf(template), changes);
      const stored = await storeState(tx, template, { state, now });
      return { data: { ...serializeTemplate(stored), channel: template.channel } };
    },

    submit_template: submitTemplate,
    sync_templates: syncTemplates,
    delete_template: deleteTemplate,
  },
  jobs: [syncTemplatesJob, syncPendingTemplatesJob],
});

type TemplateQuery = ReturnType<typeof selectTemplates>;

const orders: Readonly<
  Record<"latest" | "oldest" | "name-asc" | "name-desc", (rows: TemplateQuery) => TemplateQuery>
> = {
  latest: (rows) => rows.orderBy("templates.id", "desc"),
  oldest: (rows) => rows.orderBy("templates.id"),
  "name-asc": (rows) => rows.orderBy("templates.name").orderBy("templates.id"),
  "name-desc": (rows) => rows.orderBy("templates.name", "desc").orderBy("templates.id", "desc"),
};

/**
 * Changes the name or the language of a draft that was never submitted to the authority.
 * @throws Failure `template_name_fixed`, `template_exists`.
 */
async function rename(
  { tx, world, organization: organization_id }: WriteContext,
  template: Awaited<ReturnType<typeof lockTemplate>>,
  wanted: { readonly name: string | undefined; readonly language: string | undefined },
): Promise<void> {
  const { id, inbox_id, external_id, status: current_state } = template;
  const { name = template.name, language = template.language } = wanted;
  if (name === template.name && language === template.language) {
    return;
  }
  if (external_id !== null) {
    const param = name === template.name ? "language" : "name";
    throw fail("template_name_fixed", { current_state, param });
  }
  requireLanguage(world, template.inbox_channel, language);
  const existing_id = await findNamed(tx, { organization_id, inbox_id, name, language });
  if (existing_id !== undefined && existing_id !== id) {
    throw fail("template_exists", { existing_id, param: "name" });
  }
  await ofOrganization(tx, organization_id)
    .updateTable("templates")
    .set({ name, language })
    .where("id", "=", id)
    .execute();
}
