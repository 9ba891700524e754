/** Calls the review authority of an inbox's channel. */
import { z } from "zod";
import { fail } from "../../../../tools/errors.ts";
import type { ReviewedTemplate, TemplateAuthority } from "../../../ports/template-authority.ts";
import type { World } from "../../kernel/index.ts";

/** How long a call may take. */
export const callTimeoutMs = 20_000;
/** When a submission has ended in any case. Longer, because the clocks of two machines differ. */
export const submissionEndedMs = callTimeoutMs + 10_000;

/** The inbox as the authority knows it, with the name of its channel. */
export const InboxOfTemplate = z.object({
  organization_id: z.string(),
  id: z.string(),
  phone_number: z.string(),
  channel: z.string(),
});
export type InboxOfTemplate = z.infer<typeof InboxOfTemplate>;

export function authorityOf(world: World, channel: string): TemplateAuthority {
  const authority = world.templateAuthorities[channel];
  if (!authority) {
    throw fail("unavailable", { reason: `the channel ${channel} has no template review.` });
  }
  return authority;
}

interface Listing {
  readonly inbox: InboxOfTemplate;
  readonly name?: string | undefined;
}

/** The pages of the authority's list, one after the other. */
export async function* readPages(
  world: World,
  { inbox, name }: Listing,
): AsyncGenerator<readonly ReviewedTemplate[]> {
  const authority = authorityOf(world, inbox.channel);
  const cursors = new Set<string | null>();
  for (let cursor: string | null = null; !cursors.has(cursor); ) {
    const page = await authority.list({ inbox, name, cursor }, AbortSignal.timeout(callTimeoutMs));
    yield page.templates;
    if (page.next === null) {
      return;
    }
    cursors.add(cursor);
    cursor = page.next;
  }
  throw new Error("The pages of the review authority repeat.");
}
