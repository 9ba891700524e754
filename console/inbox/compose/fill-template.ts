/** A template with the values of its variables, as its recipient sees it. */
import type { Answer } from "../../service/call.ts";
import type { TemplateText } from "../conversation/message-content.tsx";

export type Template = Answer<"get_template">["data"];
type Filled = Parameters<typeof TemplateText>[0]["template"];

/** A variable without a value stays in braces. */
export function fillTemplate(
  { template_data, variables }: Template,
  values: Readonly<Record<string, string>>,
): Filled {
  const { header, body, footer, buttons = [], offer, cards } = template_data;
  const fill = (component: Template["variables"][number]["component"], text: string, card?: number) => {
    const names = variables.filter((one) => one.component === component && one.card_index === card);
    return text.replace(/\{\{\s*([^{}]+?)\s*\}\}/g, (braces, name: string) => {
      const variable = names.find((one) => one.name === name) ?? names[Number(name) - 1];
      return (variable && values[variable.name]) || braces;
    });
  };
  return {
    header:
      header === undefined
        ? null
        : { type: header.type, ...(header.text === undefined ? {} : { text: fill("HEADER", header.text) }) },
    body: fill("BODY", body),
    footer: footer ?? null,
    buttons: buttons.map(({ type, text }) => ({ type, text })),
    ...(offer && { offer: { text: offer.text, expires_at: values.offer_expires_at || null } }),
    ...(cards && {
      cards: cards.map((card, index) => ({
        header: { type: card.header.type, media: { url: card.header.media_url ?? "", file_name: null } },
        body: card.body === undefined ? null : fill("CARD_BODY", card.body, index),
        buttons: (card.buttons ?? []).map(({ type, text }) => ({ type, text })),
      })),
    }),
  };
}
