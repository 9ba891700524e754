/**
 * Composes a message from a template: its texts with the values of the variables, and the parameters for the
 * channel.
 */

import { fail } from "../../../../../tools/errors.ts";
import type { TemplateContent } from "../../../../../tools/messages/index.ts";
import type { Queries } from "../../../../database/database.ts";
import type { SentTemplate } from "../../../../database/schema/index.ts";
import { fillIn, type VariableText, variableTextsOf } from "../placeholders.ts";
import { isAt, payloadKey, type TemplateValues, type Version } from "../version.ts";
import { type CardFile, createFileReader, type ReadFile, readCardFiles } from "./files.ts";
import type { ApprovedTemplate, SendableTemplate } from "./sendable.ts";
import { readValues } from "./values.ts";

/** The limits of the review authorities for texts with their values. */
const limits = { body: 1024, header: 60 } as const;

/** What is shown in the place of a code. */
const hiddenCode = "••••••";

interface ComposedTemplate {
  readonly template: SentTemplate;
  /** Of an authentication template, whose texts hide it. */
  readonly code: string | undefined;
}

/**
 * The content of the message.
 * @throws Failure `template_values_mismatch`, `invalid_request`, `upload_not_found`, `media_not_sendable`.
 */
export async function composeTemplate(
  db: Queries,
  sendable: SendableTemplate,
  content: TemplateContent,
): Promise<ComposedTemplate> {
  const { template } = sendable;
  const read = readValues(template.version, content);
  throwIfMismatched(template, read.problems);
  const isForCodes = template.version.template_data.authentication !== undefined;
  const values = isForCodes ? { ...read, texts: read.texts.map(() => hiddenCode) } : read;
  const files = createFileReader(db, sendable);
  const composed = compose(template, values, {
    header: await readHeaderFile(files, template, values),
    cards: await readCardFiles(files, template, values),
  });
  return { template: composed, code: isForCodes ? read.texts[0] : undefined };
}

/**
 * Composes many messages of a template that differ in their variables. Each file is read once. The result
 * throws as `composeTemplate`.
 */
export async function createComposer(
  db: Queries,
  sendable: SendableTemplate,
  header_media_url: string | undefined,
): Promise<(variables: Readonly<Record<string, string>>) => Promise<SentTemplate>> {
  const { template } = sendable;
  const { name, language, version } = template;
  const given = header_media_url === undefined ? undefined : { url: header_media_url };
  const files = createFileReader(db, sendable);
  const header = await readHeaderFile(files, template, { media: given });
  return async (variables) => {
    const values = readValues(version, { name, language, variables, header_media_url });
    throwIfMismatched(template, values.problems);
    return compose(template, values, { header, cards: await readCardFiles(files, template, values) });
  };
}

interface TemplateFiles {
  readonly header: HeaderFile | null;
  /** In the order of the cards. */
  readonly cards: readonly CardFile[];
}

type HeaderFile = Extract<SentTemplate["header"], { readonly media: unknown }>;

/** @throws Failure `template_values_mismatch`. */
function compose(template: ApprovedTemplate, values: TemplateValues, files: TemplateFiles): SentTemplate {
  const { id, name, language, version } = template;
  const { header, body, footer = null, offer, cards } = version.template_data;
  const all = variableTextsOf(version.template_data).map((place) => ({
    place,
    values: valuesAt(template, place, values),
  }));
  const filled = all.filter(({ place }) => place.card_index === undefined);
  const valuesOf = (component: VariableText["component"]) =>
    filled.find(({ place }) => place.component === component)?.values ?? [];
  const sent: SentTemplate = {
    id,
    name,
    language,
    category: version.category,
    header: header ? composeHeader(header, valuesOf("HEADER"), files.header) : null,
    body: fillIn(body, valuesOf("BODY")),
    footer,
    buttons: composeButtons(version.template_data.buttons, {
      payloadOf: (index) => values.payloads.get(payloadKey(index)),
      texts: (index) => buttonValues(filled, index),
    }),
    ...(offer && { offer: { text: offer.text, expires_at: valuesOf("OFFER")[0] ?? null } }),
    ...(cards && {
      cards: cards.flatMap((card, card_index) => {
        const file = files.cards[card_index];
        const ofCard = all.filter(({ place }) => place.card_index === card_index);
        return file ? [composeCard(card, { card_index, filled: ofCard, values, file })] : [];
      }),
    }),
    values: {
      header: valuesOf("HEADER"),
      body: valuesOf("BODY"),
      ...namesOf(filled),
      buttons: valuesOfButtons(filled),
    },
  };
  throwIfMismatched(template, lengthProblems(sent));
  return sent;
}

interface CardParts {
  readonly card_index: number;
  readonly filled: FilledTexts;
  readonly values: TemplateValues;
  readonly file: CardFile;
}

function composeCard(
  { body, buttons }: NonNullable<Version["template_data"]["cards"]>[number],
  { card_index, filled, values, file }: CardParts,
): NonNullable<SentTemplate["cards"]>[number] {
  const text = filled.find(({ place }) => place.component === "CARD_BODY");
  const names = text?.place.names ?? [];
  return {
    header: file,
    body: body === undefined ? null : fillIn(body, text?.values ?? []),
    buttons: composeButtons(buttons, {
      payloadOf: (index) => values.payloads.get(payloadKey(index, card_index)),
      texts: (index) => buttonValues(filled, index),
    }),
    values: {
      body: text?.values ?? [],
      ...(names.length > 0 ? { names } : {}),
      buttons: valuesOfButtons(filled),
    },
  };
}

function valuesOfButtons(filled: FilledTexts) {
  return filled.flatMap(({ place: { button_index: index }, values: [value, data] }) =>
    index === undefined || value === undefined
      ? []
      : [{ index, value, ...(data === undefined ? {} : { data }) }],
  );
}

function composeHeader(
  { type, text = "" }: NonNullable<Version["template_data"]["header"]>,
  values: readonly string[],
  file: HeaderFile | null,
): SentTemplate["header"] {
  if (type === "location") {
    const [latitude, longitude, name = "", address = ""] = values;
    return {
      type,
      location: { latitude: Number(latitude), longitude: Number(longitude), name, address },
    };
  }
  return type === "text" ? { type, text: fillIn(text, values) } : file;
}

/** The names of the values of header and body, on a template whose variables have names. */
function namesOf(filled: FilledTexts): Pick<SentTemplate["values"], "names"> {
  const at = (component: VariableText["component"]) =>
    filled.find(({ place }) => place.component === component)?.place.names ?? [];
  const names = { header: at("HEADER"), body: at("BODY") };
  return names.header.length + names.body.length > 0 ? { names } : {};
}

type FilledTexts = readonly { readonly place: VariableText; readonly values: readonly string[] }[];

function buttonValues(filled: FilledTexts, index: number): readonly string[] {
  return filled.find(({ place }) => place.button_index === index)?.values ?? [];
}

/** The values of one text, in the order of its variables. */
function valuesAt(
  { version }: ApprovedTemplate,
  place: VariableText,
  { texts }: TemplateValues,
): readonly string[] {
  return texts.filter((_, index) => {
    const variable = version.variables[index];
    return variable !== undefined && isAt(variable, place);
  });
}

/** The file of an image, video or document header; null for any other. */
async function readHeaderFile(
  read: ReadFile,
  { version }: ApprovedTemplate,
  { media: given }: Pick<TemplateValues, "media">,
): Promise<HeaderFile | null> {
  const { header } = version.template_data;
  if (header === undefined || header.type === "text" || header.type === "location") {
    return null;
  }
  const { type, media_url: sample = "" } = header;
  const { url: media_url, file_name } = given ?? { url: sample, file_name: undefined };
  return { type, media: await read({ type, media_url, file_name, field: "template.header_media_url" }) };
}

interface ButtonParts {
  readonly payloadOf: (index: number) => string | undefined;
  readonly texts: (index: number) => readonly string[];
}

function composeButtons(
  buttons: Version["template_data"]["buttons"],
  { payloadOf, texts }: ButtonParts,
): SentTemplate["buttons"] {
  return (buttons ?? []).map((button, index) => {
    const payload = payloadOf(index);
    const [code] = button.type === "copy_code" ? texts(index) : [];
    return {
      ...button,
      ...(button.url === undefined ? {} : { url: fillIn(button.url, texts(index)) }),
      ...(payload === undefined ? {} : { payload }),
      ...(code === undefined ? {} : { code }),
    };
  });
}

function lengthProblems({ header, body }: SentTemplate): readonly string[] {
  const isLong = header?.type === "text" && header.text.length > limits.header;
  return [
    ...(body.length > limits.body
      ? [`with its values the body has more than ${limits.body} characters.`]
      : []),
    ...(isLong ? [`with its values the header has more than ${limits.header} characters.`] : []),
  ];
}

function throwIfMismatched({ name, version }: ApprovedTemplate, problems: readonly string[]): void {
  const [reason] = problems;
  if (reason !== undefined) {
    const expected = version.variables.map((variable) => variable.name).join(", ") || "none";
    const details = problems.map((message) => ({
      field: "template.variables",
      code: "template_values_mismatch",
      message,
    }));
    throw fail("template_values_mismatch", { name, reason, expected, param: "template.variables", details });
  }
}
