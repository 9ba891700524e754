/**
 * The simulated review authority as the port sees it: submits, lists and deletes templates as WhatsApp does.
 */
import type { DatabaseTransaction } from "../../../../database/database.ts";
import type {
  ReviewedTemplate,
  SubmissionResult,
  TemplateAuthority,
  TemplatePage,
  TemplateQuery,
  TemplateSubmission,
} from "../../../../ports/channel/template-authority.ts";
import { reviewStatusOf } from "../../review-status.ts";
import { templateLanguages } from "../../template-languages.ts";
import { type AuthorityParts, scheduleReview } from "./decide.ts";
import {
  deleteStoredTemplate,
  insertTemplate,
  listAfter,
  lockStoredTemplate,
  readReviewSettings,
  type StoredTemplate,
  updateTemplate,
} from "./store.ts";

/** Of a list. */
const pageSize = 100;
/** As on WhatsApp. */
const changeableStatuses: readonly string[] = ["APPROVED", "REJECTED", "PAUSED"];

export function createAuthority(parts: AuthorityParts): TemplateAuthority {
  return {
    languages: templateLanguages,
    statusOf: reviewStatusOf,
    async submit(submission, signal) {
      signal.throwIfAborted();
      return submit(parts, submission);
    },
    async list(query, signal) {
      signal.throwIfAborted();
      return list(parts, query);
    },
    async delete({ inbox: { organization_id, phone_number }, external_id }, signal) {
      signal.throwIfAborted();
      return parts.database.transaction(async (tx) => {
        const template = await lockStoredTemplate(tx, { organization_id, external_id });
        if (template?.phone_number !== phone_number) {
          return { outcome: "deleted" };
        }
        if (template.status === "DISABLED") {
          return refuse("A disabled template can't be deleted.");
        }
        await deleteStoredTemplate(tx, template);
        return { outcome: "deleted" };
      });
    },
  };
}

async function submit(parts: AuthorityParts, submission: TemplateSubmission): Promise<SubmissionResult> {
  const { database } = parts;
  const settings = await readReviewSettings(database.queries, submission.inbox.organization_id);
  if (settings.busy) {
    return { outcome: "busy" };
  }
  const result = await database.transaction(async (tx): Promise<SubmissionResult> => {
    const stored = await (submission.external_id === null ? create : change)(parts, tx, submission);
    if ("outcome" in stored) {
      return stored;
    }
    await scheduleReview(parts, tx, { template: stored, settings });
    return { outcome: "accepted", external_id: stored.external_id };
  });
  if (settings.lost_answers && result.outcome === "accepted") {
    throw new Error("The simulated review authority's answer was lost on the way.");
  }
  return result;
}

type Store = (
  parts: AuthorityParts,
  tx: DatabaseTransaction,
  submission: TemplateSubmission,
) => Promise<StoredTemplate | Refusal>;

const create: Store = async ({ now }, tx, { inbox, name, language, ...version }) => {
  const { organization_id, phone_number } = inbox;
  const created = await insertTemplate(tx, {
    organization_id,
    phone_number,
    language,
    name: name.toLowerCase(),
    ...toColumns(version),
    quality_rating: "UNKNOWN",
    created_at: now().toISOString(),
  });
  return (
    created ??
    refuse(`The name ${name} is in use in the language ${language}. Send the template another name.`)
  );
};

const change: Store = async (_, tx, { inbox, external_id, ...version }) => {
  const { organization_id, phone_number } = inbox;
  const template = await lockStoredTemplate(tx, { organization_id, external_id: external_id ?? "" });
  if (template?.phone_number !== phone_number) {
    return refuse(`There is no template with the id ${external_id}.`);
  }
  if (!changeableStatuses.includes(template.status)) {
    return refuse(
      `A template can be changed while it is ${changeableStatuses.join(", ")}; it is ${template.status}.`,
    );
  }
  return updateTemplate(tx, template, { ...toColumns(version), revision: template.revision + 1 });
};

interface Refusal {
  readonly outcome: "refused";
  readonly reason: string;
}

function refuse(reason: string): Refusal {
  return { outcome: "refused", reason };
}

/** The columns that a submission replaces. */
function toColumns({
  category,
  template_data,
  variables,
}: Pick<TemplateSubmission, "category" | "template_data" | "variables">) {
  return {
    category,
    template_data: JSON.stringify(template_data),
    variables: JSON.stringify(variables),
    status: "PENDING" as const,
    rejection_reason: null,
  };
}

async function list(
  { database: { queries } }: AuthorityParts,
  { inbox: { organization_id, phone_number }, name, cursor }: TemplateQuery,
): Promise<TemplatePage> {
  const selection = { organization_id, phone_number, name: name?.toLowerCase() };
  // One more than a page shows whether there is another.
  const found = await listAfter(queries, selection, { after: cursor ?? "", limit: pageSize + 1 });
  const templates = found.slice(0, pageSize);
  const next = found.length > pageSize ? (templates.at(-1)?.external_id ?? null) : null;
  return { templates: templates.map(toReviewedTemplate), next };
}

function toReviewedTemplate(template: StoredTemplate): ReviewedTemplate {
  const { external_id, name, language, status, category, template_data, variables } = template;
  const { rejection_reason, quality_rating } = template;
  return {
    external_id,
    name,
    language,
    raw_status: status,
    rejection_reason,
    quality_rating,
    category,
    version: { category, template_data, variables },
  };
}
