/** Compares the parameters of a template message with the variables of the template. */
import { GraphError } from "../contract/graph-error.ts";
import type { Template, TemplateButton, TemplateComponent } from "../state/template.ts";
import { typeOf } from "./buttons.ts";
import { variablesOf } from "./variables.ts";

type Parameter = Readonly<Record<string, unknown>>;

interface SentComponent {
  readonly type: string;
  /** Of a carousel. */
  readonly cards: readonly { readonly card_index: number; readonly components: readonly SentComponent[] }[];
  readonly sub_type: string;
  readonly index: number;
  readonly parameters: readonly Parameter[];
}

/** A hydrated body may be longer than the template's own text, but not longer than this. */
const maxBodyLength = 1024;

/**
 * @throws GraphError 132000 for a wrong number, 132012 for a wrong kind, 132005 for a text
 * that becomes too long
 */
export function requireTemplateParameters(template: Template, message: unknown): void {
  const sent = readComponents(Object(message).components);
  requireParts(template, sent);
  requireOffer(
    template.components.find(({ type }) => type === "LIMITED_TIME_OFFER"),
    sent.find(({ type }) => type === "limited_time_offer"),
  );
  requireCards(
    template,
    sent.find(({ type }) => type === "carousel"),
  );
}

type TemplateParts = Pick<Template, "components" | "parameter_format">;

/** The parameters of a template, or of a card. */
function requireParts(template: TemplateParts, sent: readonly SentComponent[]): void {
  const find = (type: string) => sent.find((component) => component.type === type)?.parameters ?? [];
  const part = (type: string) => template.components.find((component) => component.type === type);
  requireHeader(template, part("HEADER"), find("header"));
  const body = part("BODY");
  requireTexts(template, { name: "body", text: body?.text, parameters: find("body") });
  requireBodyLength(body, find("body"));
  const buttons = part("BUTTONS")?.buttons ?? [];
  const sentButtons = sent.filter(({ type }) => type === "button");
  buttons.forEach((button, index) => {
    requireButton(
      button,
      index,
      sentButtons.find((one) => one.index === index),
    );
  });
  const extra = sentButtons.find(({ index }) => index >= buttons.length);
  if (extra) {
    throw new GraphError(132012, `buttons: the template has no button at index ${extra.index}`);
  }
}

function requireOffer(offer: TemplateComponent | undefined, sent: SentComponent | undefined): void {
  const isShown = Object(offer?.limited_time_offer).has_expiration === true;
  if (!isShown && sent) {
    throw new GraphError(132012, "limited_time_offer: the template shows no expiration");
  }
  const [parameter] = sent?.parameters ?? [];
  if (isShown && !Number.isSafeInteger(Object(parameter?.limited_time_offer).expiration_time_ms)) {
    throw new GraphError(131008, "limited_time_offer: expiration_time_ms is required");
  }
}

function requireCards({ components, parameter_format }: Template, sent: SentComponent | undefined): void {
  const cards = components.find(({ type }) => type === "CAROUSEL")?.cards;
  const expected: { readonly components: readonly TemplateComponent[] }[] = Array.isArray(cards) ? cards : [];
  const count = sent?.cards.length ?? 0;
  if (count !== expected.length) {
    throw new GraphError(132000, `carousel: ${count} cards do not match the expected ${expected.length}`);
  }
  expected.forEach((card, index) => {
    const given = sent?.cards.find(({ card_index }) => card_index === index);
    if (!given) {
      throw new GraphError(132012, `carousel: the card with the index ${index} is missing`);
    }
    requireParts({ ...card, parameter_format }, given.components);
  });
}

/** The schema has checked the types of components, but not their parameters. */
function readComponents(components: unknown): SentComponent[] {
  return (Array.isArray(components) ? components : []).map((component) => {
    const { type, sub_type, index, parameters, cards } = Object(component);
    return {
      type: String(type).toLowerCase(),
      cards: (Array.isArray(cards) ? cards : []).map((card) => ({
        card_index: Number(Object(card).card_index),
        components: readComponents(Object(card).components),
      })),
      sub_type: String(sub_type).toLowerCase(),
      index: Number(index),
      parameters: (Array.isArray(parameters) ? parameters : []).map((one): Parameter => Object(one)),
    };
  });
}

function requireHeader(
  template: TemplateParts,
  header: TemplateComponent | undefined,
  parameters: readonly Parameter[],
): void {
  const format = header?.format?.toUpperCase() ?? "TEXT";
  if (format === "TEXT") {
    requireTexts(template, { name: "header", text: header?.text, parameters });
    return;
  }
  const type = String(parameters[0]?.type ?? "unknown");
  const kind = format.toLowerCase();
  if (type.toLowerCase() !== kind || typeof parameters[0]?.[kind] !== "object") {
    const received = type.toUpperCase();
    throw new GraphError(132012, `header: Format mismatch, expected ${format}, received ${received}`);
  }
  const { id, link } = Object(parameters[0][kind]);
  if (kind !== "location" && (typeof id === "string") === (typeof link === "string")) {
    throw new GraphError(132012, `header: ${kind} needs exactly one of id and link`);
  }
}

interface Texts {
  readonly name: string;
  readonly text: string | undefined;
  readonly parameters: readonly Parameter[];
}

function requireTexts({ parameter_format }: TemplateParts, { name, text, parameters }: Texts): void {
  const expected = variablesOf(text);
  if (parameters.length !== expected.length) {
    throw new GraphError(
      132000,
      `${name}: number of localizable_params (${parameters.length}) does not match the expected number of params (${expected.length})`,
    );
  }
  for (const parameter of parameters) {
    if (textOf(parameter) === undefined) {
      throw new GraphError(132012, `${name}: parameters must be of type text, currency or date_time`);
    }
    if (textOf(parameter) === "") {
      throw new GraphError(131008, `${name}: the text of a parameter must not be empty`);
    }
    if (parameter_format === "NAMED" && !expected.includes(String(parameter.parameter_name))) {
      throw new GraphError(100, `${name}: parameter_name ${parameter.parameter_name} is not in the template`);
    }
  }
}

/** Of the other types the fallback is what is shown. */
function textOf({ type, text, currency, date_time }: Parameter): string | undefined {
  const value = type === "text" ? text : Object(type === "currency" ? currency : date_time).fallback_value;
  return typeof value === "string" ? value : undefined;
}

function requireBodyLength(body: TemplateComponent | undefined, parameters: readonly Parameter[]): void {
  const fixed = (body?.text ?? "").replace(/\{\{[^{}]*\}\}/g, "").length;
  const length = parameters.reduce((sum, parameter) => sum + (textOf(parameter)?.length ?? 0), fixed);
  if (length > maxBodyLength) {
    throw new GraphError(132005, `body: the text has ${length} of at most ${maxBodyLength} characters`);
  }
}

const subTypes: Readonly<Record<string, string>> = {
  QUICK_REPLY: "quick_reply",
  URL: "url",
  COPY_CODE: "copy_code",
  FLOW: "flow",
  CATALOG: "catalog",
  MPM: "mpm",
  VOICE_CALL: "voice_call",
};

function requireButton(button: TemplateButton, index: number, sent: SentComponent | undefined): void {
  const type = typeOf(button);
  const needsText = type === "URL" && variablesOf(button.url).length > 0;
  const isNeeded = needsText || type === "COPY_CODE" || type === "FLOW";
  if (!sent) {
    if (isNeeded) {
      throw new GraphError(131008, `buttons: Button at index ${index} of type ${type} requires a parameter`);
    }
    return;
  }
  if (sent.sub_type !== subTypes[type]) {
    throw new GraphError(
      132012,
      `buttons: Button at index ${index} is of type ${type}, not ${sent.sub_type}`,
    );
  }
  if (type === "URL" && !needsText) {
    throw new GraphError(132000, `buttons: the url at index ${index} has no variable`);
  }
  const [{ text = "", coupon_code = "", action } = {}] = sent.parameters;
  const isMissing = {
    URL: needsText && text === "",
    COPY_CODE: coupon_code === "",
    FLOW: typeof action !== "object",
  };
  if (isMissing[type as keyof typeof isMissing]) {
    throw new GraphError(131008, `buttons: Button at index ${index} of type ${type} requires a parameter`);
  }
}
