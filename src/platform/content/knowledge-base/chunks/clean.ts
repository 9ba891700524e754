/** Cleans the text of documents, and finds parts that a person should look at. */
import type { DocumentWarning } from "../../../../database/schema/index.ts";
import type { DocumentBlock } from "../../../../ports/files/document-reader.ts";
import { cutText } from "../../../../texts/cut.ts";
import { pause } from "../../../../time/pauses.ts";
import { limitMarks } from "../../../foundation/query/index.ts";

/**
 * Invisible characters, with which a text can hide words from people and show them to a model: controls,
 * zero-width and directional characters, variation selectors and tags. A zero-width joiner between two
 * letters or parts of an emoji belongs to the script.
 */
const invisible =
  // biome-ignore lint/suspicious/noMisleadingCharacterClass: each stands for itself.
  /[\u00ad\u061c\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u2064\u2066-\u206f\ufeff\ufff9-\ufffb\u{e0000}-\u{e007f}\u{e0100}-\u{e01ef}]/gu;
// biome-ignore lint/suspicious/noControlCharactersInRegex: it finds them.
const controls = /[\0-\x08\x0b-\x1f\x7f-\x9f]/g;
/** Single halves of surrogate pairs, which are no characters and can't be stored. */
const surrogates = /\p{Surrogate}/gu;

/**
 * Invisible characters that programs do not leave in ordinary text, unlike soft hyphens and zero-width
 * spaces.
 */
// biome-ignore lint/suspicious/noMisleadingCharacterClass: each stands for itself.
const hiding = /[\u202a-\u202e\u2060-\u2064\u2066-\u206f\u{e0000}-\u{e007f}\u{e0100}-\u{e01ef}]/gu;

/** Word processors leave a few such characters; more of them hide something. */
const maxHiding = 20;

/**
 * Removes invisible characters, normalizes to one Unicode form, and leaves at most one empty line in a row.
 */
export function cleanText(text: string): string {
  const shown = text
    .replace(/\r\n?/g, "\n")
    .replace(controls, " ")
    .replace(invisible, "")
    .replace(surrogates, "\ufffd");
  // Marks are limited after the invisible characters between them are removed.
  return limitMarks(shown)
    .normalize("NFC")
    .replace(/[^\S\n]+/g, " ")
    .replace(/ ?\n ?/g, "\n")
    .replace(/\n{3,}/g, "\n\n")
    .trim();
}

/** Cleans each block, and drops blocks that become empty. */
export async function cleanBlocks(blocks: readonly DocumentBlock[]): Promise<DocumentBlock[]> {
  const cleaned: DocumentBlock[] = [];
  for (const block of blocks) {
    await pause();
    cleaned.push(...cleanBlock(block));
  }
  return cleaned;
}

function cleanBlock(block: DocumentBlock): DocumentBlock[] {
  if (block.kind === "table") {
    const rows = block.rows.map((row) => cleanText(row).replaceAll("\n", " ")).filter((row) => row !== "");
    return rows.length > 0 ? [{ ...block, rows }] : [];
  }
  const cleaned = cleanText(block.text);
  const text = block.kind === "heading" ? cutText(cleaned.replaceAll("\n", " "), maxHeading) : cleaned;
  return text === "" ? [] : [{ ...block, text }];
}

/** A longer heading is cut: a program may take a whole page for a heading. */
const maxHeading = 300;

/**
 * Phrases with which a text addresses a model. A document about assistants may have them too, so the text is
 * only flagged.
 */
const instructions = [
  /\b(?:ignore|disregard|forget|override)\b.{0,30}\b(?:previous|prior|above|earlier|all|any|your|these)\b.{0,30}\b(?:instruction|prompt|rule|direction|guideline|message)s?\b/i,
  /\b(?:system|developer|hidden)\s+(?:prompt|message|instruction)s?\b/i,
  /\byou\s+are\s+(?:now|no\s+longer)\s+(?:an?|the|in)\b/i,
  /\b(?:reveal|print|repeat|show|output)\b.{0,30}\b(?:your|the)\s+(?:system\s+)?(?:prompt|instructions)\b/i,
  /\bdo\s+not\s+(?:tell|inform|mention\s+(?:this|it)\s+to)\s+(?:the\s+)?(?:user|customer|human)\b/i,
  /\b(?:as|when)\s+(?:an?\s+)?(?:ai|language\s+model|assistant|chatbot)\b.{0,40}\b(?:must|always|never|should)\b/i,
  /<\|?(?:im_start|im_end|system|endoftext)\|?>|\[\/?INST\]|^\s*(?:system|assistant)\s*:/im,
  /\b(?:jailbreak|developer\s+mode|DAN\s+mode)\b/i,
];

const maxWarnings = 20;
const excerptLength = 160;

/** The parts of a chunk that a warning shows. */
interface Passage {
  readonly headings: readonly string[];
  readonly page: number | null;
  readonly content: string;
}

export async function findDocumentWarnings(
  blocks: readonly DocumentBlock[],
  passages: readonly Passage[],
  emptyPages: number,
): Promise<DocumentWarning[]> {
  const nowhere = { page: null, heading: null, excerpt: null };
  let hidden = 0;
  for (const block of blocks) {
    await pause();
    hidden += countHiding(block);
  }
  const flagged: DocumentWarning[] = [];
  for (const passage of passages) {
    await pause();
    flagged.push(...flagInstructions(passage));
    if (flagged.length === maxWarnings) {
      break;
    }
  }
  return [
    ...flagged,
    ...(hidden > maxHiding
      ? [
          {
            code: "invisible_characters" as const,
            message: `${hidden} invisible characters were removed. They can hide text from people.`,
            ...nowhere,
          },
        ]
      : []),
    ...(emptyPages > 0
      ? [
          {
            code: "pages_without_text" as const,
            message: `${emptyPages} of its pages have no text, for example because they are scanned: nothing on them is found.`,
            ...nowhere,
          },
        ]
      : []),
  ];
}

function countHiding(block: DocumentBlock): number {
  const text = block.kind === "table" ? block.rows.join("\n") : block.text;
  return text.match(hiding)?.length ?? 0;
}

function flagInstructions({ headings, page, content }: Passage): DocumentWarning[] {
  const text = [...headings, content].join("\n");
  const found = instructions.map((pattern) => pattern.exec(text)).find((match) => match !== null);
  if (!found) {
    return [];
  }
  const start = Math.max(0, found.index - 40);
  return [
    {
      code: "instruction_like_text",
      message: "This text looks like instructions to a model. It is never followed, but check who wrote it.",
      page,
      heading: headings.join(" > ") || null,
      excerpt: text.slice(start, start + excerptLength),
    },
  ];
}
