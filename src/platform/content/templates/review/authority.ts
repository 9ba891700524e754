/** Calls the review authority of an inbox's channel. */
import { z } from "zod";
import { fail } from "../../../../../tools/errors.ts";
import type { TemplateAuthority, TemplateInbox } from "../../../../ports/channel/template-authority.ts";
import { channelOf, readAccount } from "../../../account/inboxes/index.ts";
import type { World } from "../../../foundation/kernel/index.ts";
import type { TemplateReview } from "../states.ts";
import { readTemplate } from "./read-template.ts";

/** How long a call may take. */
export const callTimeoutMs = 20_000;
/**
 * The time after which a submission has certainly ended. Longer than a call, because the clocks of two
 * machines differ.
 */
export const submissionEndedMs = callTimeoutMs + 10_000;

/** The inbox in the form that the authority needs, with the name of its channel. */
export const InboxOfTemplate = z.object({
  organization_id: z.string(),
  id: z.string(),
  phone_number: z.string(),
  channel: z.string(),
});
export type InboxOfTemplate = z.infer<typeof InboxOfTemplate>;

/** @throws Failure `templates_not_supported`. */
export function authorityOf(world: World, channel: string): TemplateAuthority {
  const { templates } = channelOf(world, channel);
  if (!templates) {
    throw fail("templates_not_supported");
  }
  return templates;
}

/** @throws Failure `templates_not_supported`. */
export function requireTemplates(world: World, channel: string): void {
  authorityOf(world, channel);
}

/** @throws Failure `template_language_unknown` that names the nearest codes. */
export function requireLanguage(world: World, channel: string, language: string): void {
  const { languages } = authorityOf(world, channel);
  if (!languages.includes(language)) {
    const same = languages.filter((code) => code.split("_")[0] === language.split("_")[0]);
    const similar = (same.length > 0 ? same : ["en", "en_US", "pt_BR"]).slice(0, 3).join(", ");
    throw fail("template_language_unknown", { language, similar, param: "language" });
  }
}

/**
 * The inbox with its account. The account is read for each call, because a stored intent must not contain it.
 */
export async function withAccount(world: World, inbox: InboxOfTemplate): Promise<TemplateInbox> {
  const { organization_id, id: inbox_id } = inbox;
  const found = await readAccount(world.database.queries, world, { organization_id, inbox_id });
  return { ...inbox, account: found?.account };
}

interface Listing {
  readonly inbox: InboxOfTemplate;
  readonly name?: string | undefined;
}

interface Page {
  readonly templates: readonly TemplateReview[];
  /** Whether a template of the page could not be read. */
  readonly isPartial: boolean;
}

/**
 * Yields the pages of the authority's list.
 * @throws Error if a cursor repeats, because then the list has no end.
 */
export async function* readPages(world: World, { inbox, name }: Listing): AsyncGenerator<Page> {
  const authority = authorityOf(world, inbox.channel);
  const known = await withAccount(world, inbox);
  const cursors = new Set<string>();
  let cursor: string | null = null;
  do {
    const page = await authority.list({ inbox: known, name, cursor }, AbortSignal.timeout(callTimeoutMs));
    const templates = page.templates.flatMap((one) => readTemplate(authority, one) ?? []);
    const isPartial = templates.length < page.templates.length;
    if (isPartial) {
      const { organization_id, id: inbox_id } = inbox;
      world.log.warn({ organization_id, inbox_id }, "Templates of the review authority could not be read");
    }
    yield { templates, isPartial };
    cursor = page.next;
    if (cursor !== null && cursors.has(cursor)) {
      throw new Error("The review authority's list repeats a page.");
    }
    cursors.add(cursor ?? "");
  } while (cursor !== null);
}
