/**
 * Reads a template from the review authority. The template may have parts that this service can't store or
 * send.
 */
import { z } from "zod";
import {
  Template,
  templateCategories,
  templateLanguage,
  templateName,
} from "../../../../../tools/templates/index.ts";
import type { ReviewedTemplate, TemplateAuthority } from "../../../../ports/channel/template-authority.ts";
import type { TemplateReview } from "../states.ts";

/** Removes control characters, which a database or a reader can't handle. */
const text = z.string().transform((value) =>
  value
    .replace(/\p{Cc}/gu, " ")
    .trim()
    .slice(0, 512)
    .toWellFormed(),
);

const DescribedTemplate = z.object({
  external_id: z.string().min(1).max(128),
  name: templateName,
  // Notifications and some lists write en-US instead of en_US.
  language: z
    .string()
    .transform((value) => value.replace("-", "_"))
    .pipe(templateLanguage),
  raw_status: text,
  rejection_reason: text.nullable(),
  quality_rating: text.nullable(),
  category: z.enum(templateCategories),
  version: Template.pick({ category: true, template_data: true, variables: true }).nullable().catch(null),
});

/**
 * Undefined if it can't be stored. A version that breaks a limit of this service, such as
 * ten buttons, is null.
 */
export function readTemplate(
  { statusOf }: Pick<TemplateAuthority, "statusOf">,
  described: ReviewedTemplate,
): TemplateReview | undefined {
  const { data } = DescribedTemplate.safeParse(described);
  if (!data) {
    return undefined;
  }
  const exceedsLimit = data.version === null && described.version !== null;
  const skip_reason = exceedsLimit ? "limit" : described.skip_reason;
  return { ...data, skip_reason, status: statusOf(data.raw_status) };
}
