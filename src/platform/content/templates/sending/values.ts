/** Reads the values of a template's variables: by name or number, or as components in the channel's form. */
import { fileAddress, jsonObject, timestamp } from "../../../../../tools/contract/index.ts";
import type { TemplateContent } from "../../../../../tools/messages/index.ts";
import { mediaHeaderTypes } from "../../../../../tools/templates/index.ts";
import { variableTextsOf } from "../placeholders.ts";
import { formDefaults, isOfForm, sampleOf, type TemplateValues, type Version } from "../version.ts";
import { readComponents } from "./components.ts";

/** @throws Failure `invalid_request` if the components have no known form. */
export function readValues(version: Version, content: TemplateContent): TemplateValues {
  const values = content.components
    ? readComponents(version, content.components)
    : readNamed(version, content);
  const { header } = version.template_data;
  const hasMedia = mediaHeaderTypes.some((type) => type === header?.type);
  const unwanted = values.media && !hasMedia ? ["it has no image, video or document header."] : [];
  const isMissing = hasMedia && !values.media && header?.media_url === undefined;
  const missing = isMissing ? ["the file of its header is missing: send header_media_url."] : [];
  const problems = [...values.problems, ...unwanted, ...missing];
  // If there are problems, there may be fewer texts than variables.
  const invalid =
    problems.length === 0
      ? version.variables.flatMap((variable, index) =>
          problemOf(version, variable, values.texts[index] ?? ""),
        )
      : [];
  return { ...values, problems: [...problems, ...invalid] };
}

/** Each key is the name of a variable, or the number of a variable in the body. */
function readNamed(
  version: Version,
  { variables = {}, header_media_url: url }: TemplateContent,
): TemplateValues {
  const names = [...new Set(version.variables.map(({ name }) => name))];
  const byNumber = numberedNames(version);
  const nameOf = (key: string) => (names.includes(key) ? key : (byNumber.get(key) ?? key));
  const entries = Object.entries(variables).map(([key, value]) => [nameOf(key), value] as const);
  const values = new Map(entries);
  const repeated = entries.length > values.size ? names.filter((name) => countOf(entries, name) > 1) : [];
  const samples = version.variables.filter((variable) => sampleOf(version, variable) !== undefined);
  const optional = new Set(samples.map(({ name }) => name));
  const missing = names.filter((name) => !values.has(name) && !optional.has(name));
  const surplus = [...values.keys()].filter((name) => !names.includes(name));
  return {
    texts: version.variables.flatMap(
      (variable) => values.get(variable.name) ?? sampleOf(version, variable) ?? [],
    ),
    media: url === undefined ? undefined : { url },
    payloads: new Map(),
    problems: [
      ...missing.map((name) => `the value of ${name} is missing.`),
      ...surplus.map((name) => `it has no variable ${name}.`),
      ...repeated.map((name) => `the value of ${name} is given by its name and by its number.`),
    ],
  };
}

function countOf(entries: readonly (readonly [name: string, value: string])[], wanted: string): number {
  return entries.filter(([name]) => name === wanted).length;
}

/**
 * The variables that the keys name, by name or by number, and the names of all variables, each once. Those of
 * a form need no value.
 */
export function variableNames(version: Version, keys: readonly string[]) {
  const names = [...new Set(version.variables.map(({ name }) => name))];
  const byNumber = numberedNames(version);
  const nameOf = (key: string) => (names.includes(key) ? key : byNumber.get(key));
  const ofForms = version.variables.filter((variable) => isOfForm(version, variable));
  const optional = new Set(ofForms.map(({ name }) => name));
  return {
    names,
    required: names.filter((name) => !optional.has(name)),
    named: new Map(keys.map((key) => [key, nameOf(key)])),
  };
}

/** The names of the body's variables, keyed by number. */
function numberedNames({ template_data, variables }: Version): ReadonlyMap<string, string> {
  const numbers = variableTextsOf(template_data).find(({ component }) => component === "BODY")?.numbers ?? [];
  const inBody = variables.filter(({ component }) => component === "BODY");
  return new Map(inBody.map(({ name }, index) => [String(numbers[index]), name]));
}

/** The errors of a value that a message can't be composed with. */
export const invalidValueCodes: readonly string[] = [
  "template_values_mismatch",
  "upload_not_found",
  "media_not_sendable",
];

/** A valid value of each variable, for a check of everything else. */
export function placeholderValues(version: Version): Readonly<Record<string, string>> {
  const { header } = version.template_data;
  return Object.fromEntries(
    version.variables.flatMap((variable) => {
      const { name, component } = variable;
      const ofFile = sampleOf(version, variable) ?? "https://example.com/card";
      const values = { CARD_HEADER: ofFile, OFFER: "2030-01-01T00:00:00Z" } as const;
      const ofPlace =
        component === "HEADER" && header?.type === "location" ? "0" : (sampleOf(version, variable) ?? "x");
      return [[name, component === "CARD_HEADER" || component === "OFFER" ? values[component] : ofPlace]];
    }),
  );
}

/** The most characters of a code that a button copies, and of one of a limited-time offer. */
const codeLimits = { button: 20, offer: 15 } as const;

/** The largest latitude and longitude, which are the first variables of a location header. */
const degrees = [90, 180];

/** The data of the first screen of a form. */
function isJsonObject(text: string): boolean {
  try {
    return jsonObject.safeParse(JSON.parse(text)).success;
  } catch {
    return false;
  }
}

/** The problems of a value. A value within the address of a button may not have spaces at all. */
function problemOf(
  version: Version,
  variable: Version["variables"][number],
  text: string,
): readonly string[] {
  const { header, buttons = [], offer, cards = [], authentication } = version.template_data;
  const { name, component, button_index, card_index } = variable;
  const buttonsOfPart = card_index === undefined ? buttons : (cards[card_index]?.buttons ?? []);
  const button = button_index === undefined ? undefined : buttonsOfPart[button_index]?.type;
  const codeLimit = codeLimits[offer ? "offer" : "button"];
  if (/^[\s\p{Cf}]*$/u.test(text)) {
    return [`the value of ${name} is blank.`];
  }
  if (button === "copy_code" && text.length > codeLimit) {
    return [`the value of ${name} is a code of at most ${codeLimit} characters; it has ${text.length}.`];
  }
  if (authentication && !/^[\x21-\x7e]{1,15}$/.test(text)) {
    return [`the value of ${name} has 1 to 15 letters, digits or signs, without spaces.`];
  }
  if (component === "OFFER" && !timestamp.safeParse(text).success) {
    return [`the value of ${name} is a time, such as 2030-12-24T18:00:00Z.`];
  }
  if (component === "CARD_HEADER" && !fileAddress.safeParse(text).success) {
    return [`the value of ${name} is the public address of a file, or an upload's storage_url.`];
  }
  if (button === "url" && /[\s\p{C}"<>\\^`{|}]/u.test(text)) {
    return [`the value of ${name} is part of an address: send it without spaces, or encoded.`];
  }
  if (button === "form") {
    const isData = sampleOf(version, variable) === formDefaults[1];
    return isData && !isJsonObject(text) ? [`the value of ${name} is a JSON object.`] : [];
  }
  const limit =
    header?.type === "location" && component === "HEADER"
      ? degrees[version.variables.indexOf(variable)]
      : undefined;
  if (limit !== undefined && !(/^-?\d{1,3}(\.\d{1,15})?$/.test(text) && Math.abs(Number(text)) <= limit)) {
    return [`the value of ${name} is a number of degrees from -${limit} to ${limit}.`];
  }
  return /[\n\v\f\r\t\u2028\u2029]| {5}/.test(text)
    ? [`the value of ${name} can't have line breaks, tabs or more than four spaces in a row.`]
    : [];
}
