/** The parts of a template of Meta's that this service knows, and their variables. */
import { z } from "zod";
import type { TemplateVersion } from "../../../../ports/channel/template-authority.ts";

export type Variables = TemplateVersion["variables"];
type TemplateData = TemplateVersion["template_data"];

const namedPlaceholder = /\{\{([a-z_][a-z0-9_]{0,63})\}\}/g;

export function hasNames(text: string): boolean {
  return text.search(namedPlaceholder) !== -1;
}

/** Whether a template of this format can have the text. */
export function isOfFormat(format: "NAMED" | "POSITIONAL", text: string): boolean {
  return format === "NAMED" ? !/\{\{/.test(text.replace(namedPlaceholder, "")) : !hasNames(text);
}

const sampleTexts = z.array(z.string());
export const namedParams = z.array(z.object({ param_name: z.string(), example: z.string() }));

export const Header = z.object({
  type: z.literal("HEADER"),
  format: z.enum(["TEXT", "IMAGE", "VIDEO", "DOCUMENT", "LOCATION"]),
  text: z.string().optional(),
  example: z
    .object({
      header_text: sampleTexts.optional(),
      header_text_named_params: namedParams.optional(),
      header_handle: sampleTexts.optional(),
    })
    .optional(),
});
export const Body = z.object({
  type: z.literal("BODY"),
  text: z.string(),
  example: z
    .object({
      body_text: z.array(sampleTexts).optional(),
      body_text_named_params: namedParams.optional(),
    })
    .optional(),
});
export const Footer = z.object({ type: z.literal("FOOTER"), text: z.string() });
export const Button = z.object({
  type: z.enum(["QUICK_REPLY", "URL", "PHONE_NUMBER", "COPY_CODE", "FLOW"]),
  text: z.string().optional(),
  url: z.string().optional(),
  phone_number: z.string().optional(),
  flow_id: z.union([z.string(), z.number()]).optional(),
  example: z.union([sampleTexts, z.string()]).optional(),
});
export const Buttons = z.object({ type: z.literal("BUTTONS"), buttons: z.array(Button) });

export function fromHeader({
  format,
  text,
  example,
}: z.output<typeof Header>): NonNullable<TemplateData["header"]> {
  if (format === "TEXT") {
    return { type: "text", text: text ?? "" };
  }
  if (format === "LOCATION") {
    return { type: "location" };
  }
  const [handle] = example?.header_handle ?? [];
  const types = { IMAGE: "image", VIDEO: "video", DOCUMENT: "document" } as const;
  // Meta answers with the address of the sample.
  return { type: types[format], ...(handle && URL.canParse(handle) ? { media_url: handle } : {}) };
}

const buttonTypes = {
  QUICK_REPLY: "quick_reply",
  URL: "url",
  PHONE_NUMBER: "phone_number",
  COPY_CODE: "copy_code",
  FLOW: "form",
} as const;

/** What WhatsApp writes on a button that copies a code, in English. */
const copyCodeText = "Copy offer code";

export function fromButton({ type, text, url, phone_number, flow_id }: z.output<typeof Button>) {
  return {
    type: buttonTypes[type],
    text: text ?? (type === "COPY_CODE" ? copyCodeText : ""),
    ...(url === undefined ? {} : { url }),
    ...(phone_number === undefined ? {} : { phone_number }),
    ...(flow_id === undefined ? {} : { flow_id: String(flow_id) }),
  };
}

export const locationVariables: Variables = ["latitude", "longitude", "name", "address"].map((part) => ({
  name: `header_${part}`,
  component: "HEADER",
}));

export function buttonVariables(
  { type, url = "", example = [] }: z.output<typeof Button>,
  index: number,
): Variables {
  const [sample] = [example].flat();
  const at = { component: "BUTTONS", button_index: index } as const;
  if (type === "FLOW") {
    return ["token", "data"].map((part) => ({ name: `button_${index}_${part}`, ...at }));
  }
  if (type === "COPY_CODE") {
    return [{ name: `button_${index}_code`, ...at, ...(sample ? { example: sample } : {}) }];
  }
  return namesOf(
    "BUTTONS",
    url,
    [example].flat().map((one) => withoutAddress(one, url)),
  ).map(({ name, ...variable }) => ({
    ...variable,
    name: `button_${index}_${name}`,
    button_index: index,
  }));
}

/** A sample is the value of the variable, or the whole address with it. */
function withoutAddress(sample: string, url: string): string {
  const [fixed = ""] = url.split("{{");
  return sample.startsWith(fixed) ? sample.slice(fixed.length) : sample;
}

interface Samples {
  readonly samples: readonly string[];
  readonly named: z.output<typeof namedParams>;
}

export function variablesOf(
  component: "HEADER" | "BODY",
  text: string,
  { samples, named }: Samples,
): Variables {
  if (!hasNames(text)) {
    return namesOf(component, text, samples);
  }
  const names = [...new Set([...text.matchAll(namedPlaceholder)].map(([, name = ""]) => name))];
  return names.map((name) => {
    const example = named.find(({ param_name }) => param_name === name)?.example;
    return { name, component, ...(example ? { example } : {}) };
  });
}

/** The variables of a text are named by their numbers, as in a template of this service. */
function namesOf(
  component: Variables[number]["component"],
  text: string,
  samples: readonly string[],
): Variables {
  const numbers = [
    ...new Set([...text.matchAll(/\{\{([1-9]\d{0,2})\}\}/g)].map(([, digits]) => Number(digits))),
  ];
  return numbers
    .sort((one, other) => one - other)
    .map((number, index) => {
      const example = samples[index];
      return {
        name: component === "HEADER" ? `header_${number}` : String(number),
        component,
        ...(example ? { example } : {}),
      };
    });
}
