/**
 * The review of templates by Meta: creates, changes, lists and deletes the templates of a
 * WhatsApp Business Account.
 */
import { z } from "zod";
import type {
  ReviewedTemplate,
  SubmissionResult,
  TemplateAuthority,
  TemplateInbox,
  TemplatePage,
  TemplateQuery,
  TemplateSubmission,
  TemplateVersion,
} from "../../../../ports/channel/template-authority.ts";
import { reviewStatusOf } from "../../review-status.ts";
import { templateLanguages } from "../../template-languages.ts";
import { toWhatsAppAccount, type WhatsAppAccount } from "../account.ts";
import type { CreateTemplate, EditTemplate } from "../contract.ts";
import { reactionTo } from "../error-codes.ts";
import {
  type Api,
  askGraph,
  type GraphAnswer,
  type GraphError,
  isUnsent,
  parseAnswer,
  segment,
  type WhatsAppSettings,
} from "../http.ts";
import { readAll } from "../read-all.ts";
import { fromAuthentication } from "./authentication.ts";
import { fromComponents, parameterFormatOf, toComponents } from "./components.ts";
import { uploadSample } from "./sample.ts";
import { skipReasonOf } from "./skip-reason.ts";

const busy = { outcome: "busy" } as const;

const pageSize = 100;
const timeoutMs = 15_000;

export function createWhatsAppAuthority(settings: WhatsAppSettings): TemplateAuthority {
  const apiOf = (credentials: WhatsAppAccount, signal: AbortSignal): Api => ({
    settings,
    credentials,
    signal,
  });
  return {
    languages: templateLanguages,
    statusOf: reviewStatusOf,
    async submit(submission, signal) {
      if (!submission.inbox.account) {
        return { outcome: "refused", reason: "The inbox has no credentials: send them with update_inbox." };
      }
      const account = accountOf(submission.inbox);
      return submit(apiOf(account, signal), account, submission).catch(busyIfUnsent);
    },
    async list(query, signal) {
      const account = accountOf(query.inbox);
      return list(apiOf(account, signal), account, query);
    },
    async delete({ inbox, external_id, name }, signal) {
      const account = accountOf(inbox);
      const query = new URLSearchParams({ hsm_id: external_id, name: name.toLowerCase() });
      const path = `/${segment(account.waba_id)}/message_templates?${query}`;
      const request = { method: "DELETE", path, timeoutMs } as const;
      const answer = await askGraph(apiOf(account, signal), request).catch(busyIfUnsent);
      if (answer.outcome === "busy") {
        return answer;
      }
      if (answer.outcome === "accepted" || isMissing(answer.error)) {
        return { outcome: "deleted" };
      }
      return { outcome: "refused", reason: explain(answer.error) };
    },
  };
}

/** @throws Error, which says to the operator why templates can't be reviewed. */
function accountOf({ account, id }: TemplateInbox): WhatsAppAccount {
  if (!account) {
    throw new Error(`The inbox ${id} has no credentials for WhatsApp.`);
  }
  return toWhatsAppAccount(account);
}

/**
 * Without a connection, the request certainly had no effect.
 * @throws the error, after which that is not known.
 */
function busyIfUnsent(error: unknown): typeof busy {
  if (isUnsent(error)) {
    return busy;
  }
  throw error;
}

const CreatedTemplate = z.object({ id: z.string().min(1).max(128) });

async function submit(
  api: Api,
  account: WhatsAppAccount,
  submission: TemplateSubmission,
): Promise<SubmissionResult> {
  const { category, external_id, name, language, sample } = submission;
  if (category === "authentication" && !submission.template_data.authentication) {
    const reason =
      "WhatsApp writes the text of authentication templates itself: create it with create_otp_template (POST /v1/templates/authentication).";
    return { outcome: "refused", reason };
  }
  // The template is submitted after its sample: an upload whose answer was lost has submitted nothing.
  const handle = sample && (await uploadSample(api, account.app_id, sample).catch(() => busy));
  if (typeof handle === "object") {
    return handle.outcome === "busy" ? handle : reject(handle);
  }
  if (sample && handle === undefined) {
    return { outcome: "refused", reason: "The sample of its header was deleted." };
  }
  const content = {
    category: category.toUpperCase(),
    components: toComponents(submission, handle),
    message_send_ttl_seconds: submission.template_data.message_send_ttl_seconds,
  } satisfies EditTemplate;
  if (external_id !== null) {
    const path = `/${segment(external_id)}`;
    const answer = await askGraph(api, { method: "POST", path, json: content, timeoutMs });
    return answer.outcome === "rejected" ? reject(answer) : { outcome: "accepted", external_id };
  }
  const path = `/${segment(account.waba_id)}/message_templates`;
  // WhatsApp has names in lower case only.
  const json: CreateTemplate = {
    name: name.toLowerCase(),
    language,
    parameter_format: parameterFormatOf(submission.template_data),
    ...content,
  };
  const answer = await askGraph(api, { method: "POST", path, json, timeoutMs });
  return answer.outcome === "rejected"
    ? reject(answer)
    : { outcome: "accepted", external_id: parseAnswer(CreatedTemplate, answer.value).id };
}

function reject({ error }: Extract<GraphAnswer, { outcome: "rejected" }>): SubmissionResult {
  return error.status === 429 || reactionTo(error).reaction.startsWith("wait")
    ? busy
    : { outcome: "refused", reason: explain(error) };
}

function explain({ explanation, title, detail }: GraphError): string {
  return explanation ?? (detail === null ? title : `${title}: ${detail}`);
}

/** An unknown object, or a template that does not exist. */
function isMissing({ code, subcode }: GraphError): boolean {
  return code === 100 && (subcode === 33 || subcode === 2593002);
}

const Page = z.object({
  data: z.array(z.unknown()),
  paging: z
    .object({ next: z.string().optional(), cursors: z.object({ after: z.string() }).partial().optional() })
    .optional(),
});

const ListedTemplate = z.object({
  id: z.string(),
  name: z.string(),
  language: z.string(),
  status: z.string(),
  category: z
    .string()
    .transform((word) => word.toLowerCase())
    .pipe(z.enum(["authentication", "utility", "marketing"])),
  components: z.unknown(),
  parameter_format: z.string().nullish(),
  message_send_ttl_seconds: z.int().nullish().catch(null),
  rejected_reason: z.string().nullish(),
  quality_score: z.object({ score: z.string() }).nullish().catch(null),
});

const fields =
  "id,name,language,status,category,components,parameter_format,message_send_ttl_seconds,rejected_reason,quality_score";

async function list(
  api: Api,
  { waba_id }: WhatsAppAccount,
  { name, cursor }: TemplateQuery,
): Promise<TemplatePage> {
  const query = new URLSearchParams({
    fields,
    limit: String(pageSize),
    ...(name === undefined ? {} : { name: name.toLowerCase() }),
    ...(cursor === null ? {} : { after: cursor }),
  });
  const path = `/${segment(waba_id)}/message_templates?${query}`;
  const answer = await askGraph(api, { method: "GET", path, timeoutMs });
  if (answer.outcome === "rejected") {
    throw new Error(`WhatsApp refused to list templates: code ${answer.error.code}.`);
  }
  const { data, paging } = parseAnswer(Page, answer.value);
  const templates = readAll(ListedTemplate, data)
    // The API's filter also finds names that contain this one.
    .filter((one) => name === undefined || one.name === name.toLowerCase())
    .map(toReviewed);
  return { templates, next: paging?.next === undefined ? null : (paging.cursors?.after ?? null) };
}

function toReviewed(listed: z.output<typeof ListedTemplate>): ReviewedTemplate {
  const { id, name, language, status, category, rejected_reason, quality_score } = listed;
  const ttl = listed.message_send_ttl_seconds;
  const format = listed.parameter_format === "NAMED" ? "NAMED" : "POSITIONAL";
  const content =
    category === "authentication"
      ? fromAuthentication(listed.components)
      : fromComponents(listed.components, format);
  return {
    external_id: id,
    name,
    language,
    raw_status: status,
    category,
    rejection_reason: rejected_reason && rejected_reason !== "NONE" ? rejected_reason : null,
    quality_rating: quality_score?.score ?? null,
    skip_reason: skipReasonOf(listed.components, category),
    version: content && { category, ...withTtl(content, ttl) },
  };
}

/** WhatsApp may write its default as -1. */
function withTtl<Content extends Pick<TemplateVersion, "template_data">>(
  content: Content,
  message_send_ttl_seconds: number | null | undefined,
): Content {
  const isSet = typeof message_send_ttl_seconds === "number" && message_send_ttl_seconds > 0;
  return isSet
    ? { ...content, template_data: { ...content.template_data, message_send_ttl_seconds } }
    : content;
}
