/**
 * Deletes a template at the review authority, then here. The call can be repeated if the authority does not
 * respond.
 */
import { z } from "zod";
import { Failure } from "../../../../../tools/contract/index.ts";
import { fail } from "../../../../../tools/errors.ts";
import { ofOrganization } from "../../../../database/query/index.ts";
import { outward } from "../../../foundation/kernel/index.ts";
import { getTemplate, getTemplateInbox, lockTemplate } from "../find.ts";
import { templateWithdrawn } from "../withdrawn.ts";
import { authorityOf, callTimeoutMs, InboxOfTemplate, withAccount } from "./authority.ts";

const Intent = z.object({
  template_id: z.string(),
  /** The template at the authority; null if it was never submitted. */
  submitted: z.object({ inbox: InboxOfTemplate, external_id: z.string(), name: z.string() }).nullable(),
});
type Intent = z.infer<typeof Intent>;

export const deleteTemplate = outward({
  intent: Intent,

  async begin({ id }: { readonly id: string }, context): Promise<Intent> {
    const { tx, world, organization } = context;
    const template = await lockTemplate(tx, organization, id);
    const { external_id, name } = template;
    if (template.submitting_since !== null) {
      throw fail("template_not_editable", { current_state: "being submitted" });
    }
    // Also a template that can't be sent now: the authority may allow it again.
    if (template.submitted !== null) {
      const { inbox_id } = template;
      await templateWithdrawn.run(world, context, { organization, inbox_id, template_id: id });
    }
    if (external_id === null) {
      // Deleted at once: if a submission began before `record`, the template would stay at the authority.
      await ofOrganization(tx, organization).deleteFrom("templates").where("id", "=", id).execute();
      return { template_id: id, submitted: null };
    }
    return { template_id: id, submitted: { inbox: await getTemplateInbox(tx, template), external_id, name } };
  },

  async describe({ id }, { tx, organization }) {
    const { name, language } = await getTemplate(tx, organization, id);
    return { summary: `Delete the template ${name} (${language})` };
  },

  async call({ submitted }, { world }) {
    if (submitted === null) {
      return {};
    }
    try {
      const signal = AbortSignal.timeout(callTimeoutMs);
      const inbox = await withAccount(world, submitted.inbox);
      const authority = authorityOf(world, submitted.inbox.channel);
      const result = await authority.delete({ ...submitted, inbox }, signal);
      if (result.outcome === "refused") {
        throw fail("template_refused", { reason: result.reason });
      }
      if (result.outcome === "busy") {
        throw fail("authority_unavailable");
      }
      return {};
    } catch (error) {
      throw error instanceof Failure ? error : fail("outcome_unknown", {}, error);
    }
  },

  async record(_, { template_id: id }, { tx, organization }) {
    await ofOrganization(tx, organization).deleteFrom("templates").where("id", "=", id).execute();
    return { data: { id, deleted: true as const } };
  },
});
