/** The text of a template message, as a person reads it. */
import type { SentTemplate } from "../../../../database/schema/index.ts";

/** A file or a place in the header is named in brackets. */
export function textOfTemplate({ header, body, footer, offer, cards = [] }: SentTemplate): string {
  const head = header && textOfHeader(header);
  const ofOffer = offer ? [offer.text, offer.expires_at] : [];
  const ofCards = cards.flatMap((card) => [textOfHeader(card.header), card.body]);
  return [head, ...ofOffer, body, footer, ...ofCards]
    .filter((part) => part !== null && part !== "")
    .join("\n");
}

function textOfHeader(header: NonNullable<SentTemplate["header"]>): string {
  if ("text" in header) {
    return header.text;
  }
  return `[${"location" in header ? header.location.name : (header.media.file_name ?? header.type)}]`;
}
