/** Finds the placeholders {{1}}, {{2}} of a template's texts, and fills them in. */
import type { TemplateData, Variable } from "../../../../tools/templates/index.ts";

type Component = Variable["component"];

/** A text of a template that has variables. */
export interface VariableText {
  readonly component: Component;
  /** The index of the button, for the text of a button. */
  readonly button_index?: number;
  /** The path within the input, for errors. */
  readonly field: string;
  readonly text: string;
  /** The numbers of the placeholders, each once, in ascending order. */
  readonly numbers: readonly number[];
}

const placeholder = /\{\{([1-9]\d{0,2})\}\}/g;

/** The numbers of the placeholders of a text, each once, in ascending order. */
export function numbersIn(text: string): readonly number[] {
  const numbers = [...text.matchAll(placeholder)].map(([, digits]) => Number(digits));
  return [...new Set(numbers)].sort((one, other) => one - other);
}

/**
 * The placeholders in the order of the text, each with the text before it and after it, up to the next
 * placeholder.
 */
export function splitAtPlaceholders(text: string) {
  // The capturing group puts the numbers between the texts.
  const parts = text.split(placeholder);
  return parts.flatMap((part, index) =>
    index % 2 === 0
      ? []
      : { number: Number(part), before: parts[index - 1] ?? "", after: parts[index + 1] ?? "" },
  );
}

/** The text without its placeholders; remaining braces belong to none. */
export function withoutPlaceholders(text: string): string {
  return text.replace(placeholder, "");
}

/**
 * The texts that may have variables, in the order in which `variables` lists the variables: header, body,
 * buttons.
 */
export function variableTextsOf({ header, body, buttons = [] }: TemplateData): readonly VariableText[] {
  const place = (component: Component, field: string, text: string) => ({
    component,
    field,
    text,
    numbers: numbersIn(text),
  });
  return [
    ...(header?.type === "text" ? [place("HEADER", "template_data.header.text", header.text ?? "")] : []),
    place("BODY", "template_data.body", body),
    ...buttons.flatMap(({ type, url = "" }, index) =>
      type === "url"
        ? [{ ...place("BUTTONS", `template_data.buttons[${index}].url`, url), button_index: index }]
        : [],
    ),
  ];
}

/** Fills in the values, which are in the order of the placeholders' numbers. */
export function fillIn(text: string, values: readonly string[]): string {
  const numbers = numbersIn(text);
  return text.replace(placeholder, (all, digits) => values[numbers.indexOf(Number(digits))] ?? all);
}
