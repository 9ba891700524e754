/** Reads the values of a template's variables: by name or number, or as components in the channel's form. */
import type { TemplateContent } from "../../../../tools/messages/index.ts";
import { mediaHeaderTypes } from "../../../../tools/templates/index.ts";
import { placesOf } from "../placeholders.ts";
import type { TemplateValues, Version } from "../version.ts";
import { readComponents } from "./components.ts";

/** @throws Failure `invalid_request` if the components have no known form. */
export function readValues(version: Version, content: TemplateContent): TemplateValues {
  const values = content.components
    ? readComponents(version, content.components)
    : readNamed(version, content);
  const { header } = version.template_data;
  const hasMedia = mediaHeaderTypes.some((type) => type === header?.type);
  const unwanted = values.media && !hasMedia ? ["it has no image, video or document header."] : [];
  return { ...values, problems: [...values.problems, ...unwanted, ...values.texts.flatMap(problemOf)] };
}

/** A key is the name of a variable or else the number of one in the body. */
function readNamed(
  version: Version,
  { variables = {}, header_media_url: url }: TemplateContent,
): TemplateValues {
  const names = [...new Set(version.variables.map(({ name }) => name))];
  const byNumber = numberedNames(version);
  const nameOf = (key: string) => (names.includes(key) ? key : (byNumber.get(key) ?? key));
  const values = new Map(Object.entries(variables).map(([key, value]) => [nameOf(key), value]));
  const missing = names.filter((name) => !values.has(name));
  const surplus = [...values.keys()].filter((name) => !names.includes(name));
  return {
    texts: version.variables.flatMap(({ name }) => values.get(name) ?? []),
    media: url === undefined ? undefined : { url },
    payloads: new Map(),
    problems: [
      ...missing.map((name) => `the value of ${name} is missing.`),
      ...surplus.map((name) => `it has no variable ${name}.`),
    ],
  };
}

/** The names of the body's variables by their numbers. */
function numberedNames({ template_data, variables }: Version): ReadonlyMap<string, string> {
  const numbers = placesOf(template_data).find(({ component }) => component === "BODY")?.numbers ?? [];
  const inBody = variables.filter(({ component }) => component === "BODY");
  return new Map(inBody.map(({ name }, index) => [String(numbers[index]), name]));
}

/** WhatsApp rejects these characters in a value. */
function problemOf(text: string): readonly string[] {
  if (text.trim() === "") {
    return ["a value is blank."];
  }
  return /[\n\r\t]| {5}/.test(text)
    ? ["a value can't have line breaks, tabs or more than four spaces in a row."]
    : [];
}
