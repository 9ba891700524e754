/** The sample of a media header. */
import type { TemplateData } from "../../../../tools/templates/index.ts";
import { capabilitiesOf } from "../../account/inboxes/index.ts";
import type { WriteContext } from "../../foundation/kernel/index.ts";
import { toMediaContent } from "../media/index.ts";

export const sampleField = "template_data.header.media_url";

/** The sample of a media header is one of our uploads, or a public address. */
export async function requireSample(
  { tx, world, organization }: WriteContext,
  inbox: { readonly channel: string },
  { header }: TemplateData,
): Promise<void> {
  if (header?.media_url !== undefined && header.type !== "text" && header.type !== "location") {
    const { type, media_url } = header;
    const { media: limits } = capabilitiesOf(world, inbox);
    await toMediaContent(tx, { organization, type, media_url, field: sampleField, limits });
  }
}
