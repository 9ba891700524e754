/**
 * Composes a message from a template: its texts with the values of the variables, and the parameters for the
 * channel.
 */

import { fail } from "../../../../../tools/errors.ts";
import type { TemplateContent } from "../../../../../tools/messages/index.ts";
import type { Queries } from "../../../../database/database.ts";
import type { SentTemplate } from "../../../../database/schema/index.ts";
import type { MediaLimits } from "../../../../ports/channel/capabilities.ts";
import { type KeptFiles, toMediaContent } from "../../media/index.ts";
import { fillIn, type VariableText, variableTextsOf } from "../placeholders.ts";
import type { TemplateValues, Version } from "../version.ts";
import { readValues } from "./values.ts";

/** A template that can be sent. */
export interface ApprovedTemplate {
  readonly organization_id: string;
  readonly id: string;
  readonly name: string;
  readonly language: string;
  readonly version: Version;
}

/** A template of an inbox, and what the inbox's channel accepts as the file of its header. */
export interface SendableTemplate {
  readonly template: ApprovedTemplate;
  readonly media: MediaLimits;
  readonly files?: KeptFiles | undefined;
}

/** The limits of the review authorities for texts with their values. */
const limits = { body: 1024, header: 60 } as const;

/**
 * The content of the message.
 * @throws Failure `template_values_mismatch`, `invalid_request`, `upload_not_found`, `media_not_sendable`.
 */
export async function composeTemplate(
  db: Queries,
  sendable: SendableTemplate,
  content: TemplateContent,
): Promise<SentTemplate> {
  const { template } = sendable;
  const values = readValues(template.version, content);
  throwIfMismatched(template, values.problems);
  return compose(template, values, await readHeaderFile(db, sendable, values));
}

/** Composes many messages of a template that differ in their variables. The header's file is read once. */
export async function createComposer(
  db: Queries,
  sendable: SendableTemplate,
  header_media_url: string | undefined,
): Promise<(variables: Readonly<Record<string, string>>) => SentTemplate> {
  const { template } = sendable;
  const { name, language, version } = template;
  const given = header_media_url === undefined ? undefined : { url: header_media_url };
  const file = await readHeaderFile(db, sendable, { media: given });
  return (variables) => {
    const values = readValues(version, { name, language, variables, header_media_url });
    throwIfMismatched(template, values.problems);
    return compose(template, values, file);
  };
}

type HeaderFile = Extract<SentTemplate["header"], { readonly media: unknown }>;

/** @throws Failure `template_values_mismatch`. */
function compose(template: ApprovedTemplate, values: TemplateValues, file: HeaderFile | null): SentTemplate {
  const { id, name, language, version } = template;
  const { header, body, footer = null } = version.template_data;
  const filled = variableTextsOf(version.template_data).map((place) => ({
    place,
    values: valuesAt(template, place, values),
  }));
  const valuesOf = (component: VariableText["component"]) =>
    filled.find(({ place }) => place.component === component)?.values ?? [];
  const sent: SentTemplate = {
    id,
    name,
    language,
    category: version.category,
    header: header ? composeHeader(header, valuesOf("HEADER"), file) : null,
    body: fillIn(body, valuesOf("BODY")),
    footer,
    buttons: composeButtons(version, { values, texts: (index) => buttonValues(filled, index) }),
    values: {
      header: valuesOf("HEADER"),
      body: valuesOf("BODY"),
      ...namesOf(filled),
      buttons: filled.flatMap(({ place: { button_index: index }, values: [value] }) =>
        index === undefined || value === undefined ? [] : [{ index, value }],
      ),
    },
  };
  throwIfMismatched(template, lengthProblems(sent));
  return sent;
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
    return variable?.component === place.component && variable.button_index === place.button_index;
  });
}

/** The file of an image, video or document header; null for any other. */
async function readHeaderFile(
  db: Queries,
  { template: { organization_id: organization, version }, media: accepted, files }: SendableTemplate,
  { media: given }: Pick<TemplateValues, "media">,
): Promise<HeaderFile | null> {
  const { header } = version.template_data;
  if (header === undefined || header.type === "text" || header.type === "location") {
    return null;
  }
  const { type, media_url: sample = "" } = header;
  const { url: media_url, file_name } = given ?? { url: sample, file_name: undefined };
  const field = "template.header_media_url";
  const { caption: _, ...media } = await toMediaContent(db, {
    organization,
    type,
    media_url,
    file_name,
    field,
    files,
    limits: accepted,
  });
  return { type, media };
}

function composeButtons(
  { template_data: { buttons = [] } }: Version,
  {
    values: { payloads },
    texts,
  }: { readonly values: TemplateValues; readonly texts: (index: number) => readonly string[] },
): SentTemplate["buttons"] {
  return buttons.map((button, index) => {
    const payload = payloads.get(index);
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
