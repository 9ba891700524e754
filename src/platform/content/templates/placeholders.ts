/**
 * Finds the placeholders {{1}}, {{2}} or {{first_name}} of a template's texts, and fills them in. The names
 * of a text are numbered by their first appearance.
 */
import type { TemplateData, Variable } from "../../../../tools/templates/index.ts";

type Component = Variable["component"];

/** A text of a template that has variables. */
export interface VariableText {
  readonly component: Component;
  /** The index of the button, for the text of a button. */
  readonly button_index?: number;
  /** The index of the card, for a part of a card. */
  readonly card_index?: number;
  /** The path within the input, for errors. */
  readonly field: string;
  readonly text: string;
  /** The numbers of the placeholders, each once, in ascending order. */
  readonly numbers: readonly number[];
  /** The names of the placeholders, in the order of `numbers`; empty if they have no names. */
  readonly names: readonly string[];
  /**
   * Of a part whose type has variables that its texts do not show: what they are called by default, in the
   * order of `numbers`.
   */
  readonly implied?: readonly string[];
}

/** A number, or a name as the review authorities take it. */
const placeholder = /\{\{([1-9]\d{0,2}|[a-z_][a-z0-9_]{0,63})\}\}/g;
const isName = (key: string) => !/^\d/.test(key);

/** The numbers of the placeholders of a text, each once, in ascending order. */
export function numbersIn(text: string): readonly number[] {
  const numbers = keysIn(text).map(numberingOf(text));
  return [...new Set(numbers)].sort((one, other) => one - other);
}

/** The names of the placeholders of a text, each once, in the order of their first appearance. */
export function namesIn(text: string): readonly string[] {
  return [...new Set(keysIn(text).filter(isName))];
}

/** Whether a text has both numbers and names. */
export function isMixed(text: string): boolean {
  const keys = keysIn(text);
  return keys.some(isName) && !keys.every(isName);
}

function keysIn(text: string): readonly string[] {
  return [...text.matchAll(placeholder)].map(([, key = ""]) => key);
}

function numberingOf(text: string): (key: string) => number {
  const names = namesIn(text);
  return (key) => (isName(key) ? names.indexOf(key) + 1 : Number(key));
}

/**
 * The placeholders in the order of the text, each with the text before it and after it, up to the next
 * placeholder.
 */
export function splitAtPlaceholders(text: string) {
  // The capturing group puts the numbers or names between the texts.
  const parts = text.split(placeholder);
  const numberOf = numberingOf(text);
  return parts.flatMap((part, index) =>
    index % 2 === 0
      ? []
      : { number: numberOf(part), before: parts[index - 1] ?? "", after: parts[index + 1] ?? "" },
  );
}

/** The text without its placeholders; remaining braces belong to none. */
export function withoutPlaceholders(text: string): string {
  return text.replace(placeholder, "");
}

/**
 * The texts that may have variables, in the order in which `variables` lists the variables: header, body,
 * buttons, offer, cards.
 */
export function variableTextsOf({
  header,
  body,
  buttons = [],
  offer,
  cards = [],
}: TemplateData): readonly VariableText[] {
  return [
    ...(header?.type === "text" ? [place("HEADER", "template_data.header.text", header.text ?? "")] : []),
    ...(header?.type === "location"
      ? [{ ...place("HEADER", "template_data.header", ofLocation), implied }]
      : []),
    place("BODY", "template_data.body", body),
    ...buttons.flatMap(({ type, url = "" }, index) => {
      const field = `template_data.buttons[${index}]`;
      const code = { ...place("BUTTONS", field, "{{1}}"), implied: [`button_${index}_code`] };
      const form = {
        ...place("BUTTONS", field, "{{1}} {{2}}"),
        implied: [`button_${index}_token`, `button_${index}_data`],
      };
      const ofType = {
        url: [place("BUTTONS", `${field}.url`, url)],
        copy_code: [code],
        form: [form],
        quick_reply: [],
        phone_number: [],
      } as const;
      return ofType[type].map((one) => ({ ...one, button_index: index }));
    }),
    ...(offer?.has_expiration
      ? [{ ...place("OFFER", "template_data.offer", "{{1}}"), implied: ["offer_expires_at"] }]
      : []),
    ...cards.flatMap(cardTextsOf),
  ];
}

function place(component: Component, field: string, text: string) {
  return { component, field, text, numbers: numbersIn(text), names: namesIn(text) };
}

function cardTextsOf(
  { body, buttons = [] }: NonNullable<TemplateData["cards"]>[number],
  card_index: number,
): readonly VariableText[] {
  const field = `template_data.cards[${card_index}]`;
  const file = place("CARD_HEADER", `${field}.header`, "{{1}}");
  return [
    { ...file, implied: [`card_${card_index}_media_url`], card_index },
    ...(body === undefined ? [] : [{ ...place("CARD_BODY", `${field}.body`, body), card_index }]),
    ...buttons.flatMap(({ type, url = "" }, button_index) =>
      type === "url"
        ? [
            {
              ...place("CARD_BUTTONS", `${field}.buttons[${button_index}].url`, url),
              card_index,
              button_index,
            },
          ]
        : [],
    ),
  ];
}

/** The variables of a location header. */
const ofLocation = "{{1}}, {{2}}, {{3}}, {{4}}";
const implied = ["header_latitude", "header_longitude", "header_name", "header_address"];

/** Fills in the values, which are in the order of the placeholders' numbers. */
export function fillIn(text: string, values: readonly string[]): string {
  const numbers = numbersIn(text);
  const numberOf = numberingOf(text);
  return text.replace(placeholder, (all, key) => values[numbers.indexOf(numberOf(key))] ?? all);
}
