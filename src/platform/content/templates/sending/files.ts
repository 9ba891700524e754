/** The files of the headers of a template and of its cards, as a message stores them. */
import type { Queries } from "../../../../database/database.ts";
import type { SentTemplate } from "../../../../database/schema/index.ts";
import { toMediaContent } from "../../media/index.ts";
import { sampleOf, type TemplateValues } from "../version.ts";
import type { ApprovedTemplate, SendableTemplate } from "./sendable.ts";

export type CardFile = NonNullable<SentTemplate["cards"]>[number]["header"];

interface WantedFile {
  readonly type: "image" | "video" | "document";
  readonly media_url: string;
  readonly file_name?: string | undefined;
  /** The field with the address, for errors. */
  readonly field: string;
}

export type ReadFile = (wanted: WantedFile) => Promise<CardFile["media"]>;

/** How many addresses a reader remembers. */
const maxKept = 100;

/**
 * Reads each address once. The result throws Failure `upload_not_found`, `content_not_supported`,
 * `media_not_sendable`.
 */
export function createFileReader(
  db: Queries,
  { template: { organization_id: organization }, media: limits, files }: SendableTemplate,
): ReadFile {
  const read = new Map<string, CardFile["media"]>();
  return async (wanted) => {
    const key = JSON.stringify(wanted);
    const known = read.get(key);
    if (known) {
      return known;
    }
    const { caption: _, ...media } = await toMediaContent(db, { ...wanted, organization, limits, files });
    if (read.size < maxKept) {
      read.set(key, media);
    }
    return media;
  };
}

/** The files of the cards of a carousel, in their order. */
export async function readCardFiles(
  read: ReadFile,
  { version }: ApprovedTemplate,
  { texts }: TemplateValues,
): Promise<readonly CardFile[]> {
  const files: CardFile[] = [];
  for (const [card_index, { header }] of (version.template_data.cards ?? []).entries()) {
    const index = version.variables.findIndex(
      (variable) => variable.component === "CARD_HEADER" && variable.card_index === card_index,
    );
    const variable = version.variables[index];
    const media_url = texts[index] ?? (variable && sampleOf(version, variable)) ?? "";
    const field = `template.variables.${variable?.name ?? ""}`;
    files.push({ type: header.type, media: await read({ type: header.type, media_url, field }) });
  }
  return files;
}
