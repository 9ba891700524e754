/**
 * Submits a draft to the review authority, at most once.
 *
 * The template is pending from the commit before the call. If the authority does not accept the submission,
 * the template becomes a draft again. If the response is lost, the authority's list is searched; if that
 * fails too, the template stays pending until a sync resolves it.
 */
import { z } from "zod";
import { fail } from "../../../../../tools/errors.ts";
import { StoredVariable, Template, templateCategories } from "../../../../../tools/templates/index.ts";
import type { ChannelFile } from "../../../../ports/channel/message-content.ts";
import type { SubmissionResult, TemplateSubmission } from "../../../../ports/channel/template-authority.ts";
import { capabilitiesOf } from "../../../account/inboxes/index.ts";
import { type OutwardContext, outward, type World } from "../../../foundation/kernel/index.ts";
import { createChannelLink, findChannelFile, findUploadAt } from "../../uploads/index.ts";
import { getTemplate, getTemplateInbox, lockTemplate, stateOf, storeState } from "../find.ts";
import { lintTemplate } from "../lint.ts";
import { serializeTemplate } from "../serialize.ts";
import {
  acceptSubmission,
  beginSubmission,
  cancelSubmission,
  findEditLimit,
  hasAccepted,
  isNewAtAuthority,
  type TemplateRow,
} from "../states.ts";
import { templateWithdrawn } from "../withdrawn.ts";
import {
  authorityOf,
  callTimeoutMs,
  InboxOfTemplate,
  readPages,
  requireLanguage,
  withAccount,
} from "./authority.ts";

const sampleTimeoutMs = 10_000;
/** The largest sample of a header: a video. */
const maxSampleBytes = 16 * 1024 * 1024;

const Intent = z.object({
  template_id: z.string(),
  /** Proves that no other submission has begun meanwhile. */
  submitting_since: z.string(),
  inbox: InboxOfTemplate,
  name: z.string(),
  language: z.string(),
  external_id: z.string().nullable(),
  category: z.enum(templateCategories),
  template_data: Template.shape.template_data,
  variables: z.array(StoredVariable),
  /** The storage key of a header's sample if the sample is an upload. */
  sample_key: z.string().nullable(),
});
type Intent = z.infer<typeof Intent>;

export const submitTemplate = outward({
  intent: Intent,

  async begin({ id }: { readonly id: string }, context): Promise<Intent> {
    const { tx, world, organization, now } = context;
    const template = await lockTemplate(tx, organization, id);
    requireSubmittable(template, now);
    const inbox = await getTemplateInbox(tx, template);
    const sample_url = template.template_data.header?.media_url;
    const sample = sample_url === undefined ? undefined : await findUploadAt(tx, organization, sample_url);
    requireLanguage(world, inbox.channel, template.language);
    // Also a template that can't be sent now: the authority may allow it again.
    if (template.submitted !== null) {
      const { inbox_id } = template;
      await templateWithdrawn.run(world, context, { organization, inbox_id, template_id: id });
    }
    const stored = await storeState(tx, template, { state: beginSubmission(stateOf(template), now), now });
    const { name, language, category, template_data, variables } = stored;
    const external_id = isNewAtAuthority(stored) ? null : stored.external_id;
    return {
      template_id: id,
      submitting_since: stored.submitting_since ?? "",
      inbox,
      name,
      language,
      external_id,
      category,
      template_data,
      variables,
      sample_key: sample?.key ?? null,
    };
  },

  async describe({ id }, { tx, organization }) {
    const { name, language } = await getTemplate(tx, organization, id);
    return { summary: `Submit the template ${name} (${language}) for review` };
  },

  async call(intent, context) {
    const result = await submit(context, intent);
    if (result.outcome === "accepted") {
      return result;
    }
    await cancel(context, intent);
    throw result.outcome === "busy"
      ? fail("authority_unavailable")
      : fail("template_refused", { reason: result.reason });
  },

  find: (intent, { world }) => findSubmission(world, intent),

  async record({ external_id }, { template_id, submitting_since }, { tx, organization, now }) {
    const template = await lockTemplate(tx, organization, template_id);
    const isRunning = template.submitting_since === submitting_since;
    const stored = isRunning
      ? await storeState(tx, template, { state: acceptSubmission(stateOf(template), external_id), now })
      : template;
    return { data: serializeTemplate(stored) };
  },
});

/** @throws Failure `template_not_draft`, `template_not_submittable`, `template_edit_limit`. */
function requireSubmittable(template: TemplateRow, now: Date): void {
  if (template.status !== "draft") {
    throw fail("template_not_draft", { current_state: template.status });
  }
  const [first, ...others] = lintTemplate(template).filter(({ isAdvice }) => !isAdvice);
  if (first) {
    throw fail("template_not_submittable", {
      reason: first.message,
      param: first.field,
      details: [first, ...others].map(({ field, code, message }) => ({ field, code, message })),
    });
  }
  const allowedAt = findEditLimit(template, now);
  if (allowedAt) {
    throw fail("template_edit_limit", { allowed_at: allowedAt.toISOString() });
  }
}

async function submit(context: OutwardContext, intent: Intent): Promise<SubmissionResult> {
  const { world } = context;
  const submission = await compose(world, intent).catch(async (error: unknown) => {
    await cancel(context, intent);
    throw error;
  });
  if (submission === "unavailable") {
    return { outcome: "refused", reason: "The sample of its header could not be fetched." };
  }
  try {
    const signal = AbortSignal.timeout(callTimeoutMs);
    return await authorityOf(world, intent.inbox.channel).submit(submission, signal);
  } catch (error) {
    const found = await findSubmission(world, intent).catch(() => undefined);
    if (!found) {
      throw fail("outcome_unknown", {}, error);
    }
    return found;
  }
}

async function compose(world: World, intent: Intent): Promise<TemplateSubmission | "unavailable"> {
  const { name, language, external_id, category, variables } = intent;
  const inbox = await withAccount(world, intent.inbox);
  const { fetchesFiles } = capabilitiesOf(world, intent.inbox);
  const content = await (fetchesFiles ? withSampleLink : withSample)(world, intent);
  return content === "unavailable"
    ? content
    : { inbox, name, language, external_id, category, variables, ...content };
}

/** The authority of a channel that fetches files gets a signed link to a sample that was uploaded here. */
async function withSampleLink(world: World, { template_data, sample_key }: Intent) {
  const { header } = template_data;
  return header && sample_key !== null
    ? {
        template_data: {
          ...template_data,
          header: { ...header, media_url: await createChannelLink(world, sample_key) },
        },
      }
    : { template_data };
}

/** Any other authority takes the file of the sample. */
async function withSample(world: World, { template_data, sample_key, inbox }: Intent) {
  const url = template_data.header?.media_url;
  if (sample_key !== null) {
    return { template_data, sample: await findChannelFile(world, inbox.organization_id, sample_key) };
  }
  const sample = url === undefined ? undefined : await downloadSample(world, url);
  return sample === "unavailable" ? sample : { template_data, sample };
}

async function downloadSample(world: World, url: string): Promise<ChannelFile | "unavailable"> {
  const request = { method: "GET", url, timeoutMs: sampleTimeoutMs, maxBytes: maxSampleBytes } as const;
  const answer = await world.web.send({ ...request, tooLarge: "fail" });
  if (answer.outcome !== "answered" || answer.status !== 200) {
    return "unavailable";
  }
  const { body, headers } = answer;
  const content = async function* () {
    yield body;
  };
  const content_type = (headers["content-type"] ?? "").split(";")[0] ?? "";
  return { key: "sample", content_type, size: body.length, read: async () => content() };
}

/** Returns undefined if the authority does not list the submission, which may still arrive. */
async function findSubmission(world: World, intent: Intent) {
  for await (const { templates } of readPages(world, intent)) {
    const found = templates.find(({ language }) => language === intent.language);
    if (found && hasAccepted(intent, found)) {
      return { outcome: "accepted" as const, external_id: found.external_id };
    }
  }
  return undefined;
}

/** The authority did not accept the submission: the template is a draft again. */
async function cancel({ world, organization, now }: OutwardContext, intent: Intent): Promise<void> {
  await world.database.transaction(async (tx) => {
    const template = await lockTemplate(tx, organization, intent.template_id);
    if (template.submitting_since === intent.submitting_since) {
      await storeState(tx, template, { state: cancelSubmission(stateOf(template)), now });
    }
  });
}
