/** The content of a template in Meta's components, and back. */
import { z } from "zod";
import type { TemplateSubmission, TemplateVersion } from "../../../../ports/channel/template-authority.ts";
import type { ButtonDefinition, ComponentDefinition } from "../contract.ts";

type Variables = TemplateVersion["variables"];

/** `handle` names the uploaded sample of a media header. JSON leaves undefined members out. */
export function toComponents(
  { template_data, variables }: Pick<TemplateSubmission, "template_data" | "variables">,
  handle: string | undefined,
): readonly ComponentDefinition[] {
  const { header, body, footer, buttons = [] } = template_data;
  const samples = (component: Variables[number]["component"], index?: number) =>
    variables
      .filter((one) => one.component === component && one.button_index === index)
      .map(({ name, example }) => example ?? name);
  const bodySamples = samples("BODY");
  const namedSamples = (component: "HEADER" | "BODY") =>
    variables
      .filter((one) => one.component === component)
      .map(({ name, example }) => ({ param_name: name, example: example ?? name }));
  const bodyExample = hasNames(body)
    ? { body_text_named_params: namedSamples("BODY") }
    : { body_text: [bodySamples] };
  const bodyComponent: ComponentDefinition = {
    type: "BODY",
    text: body,
    example: bodySamples.length > 0 ? bodyExample : undefined,
  };
  const buttonsComponent: ComponentDefinition = {
    type: "BUTTONS",
    buttons: buttons.map((button, index) => toButton(button, samples("BUTTONS", index))),
  };
  return [
    ...(header
      ? [toHeader(header, { samples: samples("HEADER"), named: namedSamples("HEADER"), handle })]
      : []),
    bodyComponent,
    ...(footer === undefined ? [] : [toFooter(footer)]),
    ...(buttons.length > 0 ? [buttonsComponent] : []),
  ];
}

type TemplateData = TemplateVersion["template_data"];

interface HeaderSamples {
  readonly samples: readonly string[];
  readonly named: z.output<typeof namedParams>;
  readonly handle: string | undefined;
}

const namedPlaceholder = /\{\{([a-z_][a-z0-9_]{0,63})\}\}/g;

function hasNames(text: string): boolean {
  return text.search(namedPlaceholder) !== -1;
}

/** How WhatsApp takes the values of the header and the body. */
export function parameterFormatOf({ header, body }: TemplateData): "NAMED" | "POSITIONAL" {
  return hasNames(`${header?.text ?? ""} ${body}`) ? "NAMED" : "POSITIONAL";
}

function toHeader(
  { type, text }: NonNullable<TemplateData["header"]>,
  { samples, named, handle }: HeaderSamples,
): ComponentDefinition {
  if (type === "text") {
    const given = hasNames(text ?? "") ? { header_text_named_params: named } : { header_text: samples };
    const example = samples.length > 0 ? given : undefined;
    return { type: "HEADER", format: "TEXT", text, example };
  }
  if (type === "location") {
    return { type: "HEADER", format: "LOCATION" };
  }
  const header_handle = handle === undefined ? [] : [handle];
  return { type: "HEADER", format: type.toUpperCase(), example: { header_handle } };
}

function toFooter(text: string): ComponentDefinition {
  return { type: "FOOTER", text };
}

function toButton(
  { type, text, url = "", phone_number }: NonNullable<TemplateData["buttons"]>[number],
  samples: readonly string[],
): ButtonDefinition {
  const [sample] = samples;
  const isUrl = type === "url";
  if (type === "copy_code") {
    // WhatsApp writes its text.
    return { type: "COPY_CODE", example: sample };
  }
  return {
    type: type.toUpperCase(),
    text,
    url: isUrl ? url : undefined,
    example: isUrl && sample !== undefined ? [sample] : undefined,
    phone_number: type === "phone_number" ? phone_number : undefined,
  };
}

const sampleTexts = z.array(z.string());
const namedParams = z.array(z.object({ param_name: z.string(), example: z.string() }));

const Header = z.object({
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
const Body = z.object({
  type: z.literal("BODY"),
  text: z.string(),
  example: z
    .object({
      body_text: z.array(sampleTexts).optional(),
      body_text_named_params: namedParams.optional(),
    })
    .optional(),
});
const Footer = z.object({ type: z.literal("FOOTER"), text: z.string() });
const Button = z.object({
  type: z.enum(["QUICK_REPLY", "URL", "PHONE_NUMBER", "COPY_CODE"]),
  text: z.string().optional(),
  url: z.string().optional(),
  phone_number: z.string().optional(),
  example: z.union([sampleTexts, z.string()]).optional(),
});
const Buttons = z.object({ type: z.literal("BUTTONS"), buttons: z.array(Button) });

const Components = z.array(z.discriminatedUnion("type", [Header, Body, Footer, Buttons]));

type Content = Pick<TemplateVersion, "template_data" | "variables">;

/** Null if the template has parts that this service does not send, such as a carousel or a form. */
export function fromComponents(components: unknown, format: "NAMED" | "POSITIONAL"): Content | null {
  const { data } = Components.safeParse(components);
  const body = data?.find((one) => one.type === "BODY");
  if (!data || !body) {
    return null;
  }
  const header = data.find((one) => one.type === "HEADER");
  const texts = `${header?.text ?? ""} ${body.text}`;
  if (format === "NAMED" ? /\{\{/.test(texts.replace(namedPlaceholder, "")) : hasNames(texts)) {
    return null;
  }
  const footer = data.find((one) => one.type === "FOOTER");
  const buttons = data.find((one) => one.type === "BUTTONS")?.buttons ?? [];
  return {
    template_data: {
      body: body.text,
      ...(header ? { header: fromHeader(header) } : {}),
      ...(footer ? { footer: footer.text } : {}),
      ...(buttons.length > 0 ? { buttons: buttons.map(fromButton) } : {}),
    },
    variables: [
      ...(header?.format === "LOCATION" ? locationVariables : []),
      ...variablesOf("HEADER", header?.text ?? "", {
        samples: header?.example?.header_text ?? [],
        named: header?.example?.header_text_named_params ?? [],
      }),
      ...variablesOf("BODY", body.text, {
        samples: body.example?.body_text?.[0] ?? [],
        named: body.example?.body_text_named_params ?? [],
      }),
      ...buttons.flatMap(buttonVariables),
    ],
  };
}

function fromHeader({ format, text, example }: z.output<typeof Header>): NonNullable<TemplateData["header"]> {
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
} as const;

/** What WhatsApp writes on a button that copies a code, in English. */
const copyCodeText = "Copy offer code";

function fromButton({ type, text, url, phone_number }: z.output<typeof Button>) {
  return {
    type: buttonTypes[type],
    text: text ?? (type === "COPY_CODE" ? copyCodeText : ""),
    ...(url === undefined ? {} : { url }),
    ...(phone_number === undefined ? {} : { phone_number }),
  };
}

const locationVariables: Variables = ["latitude", "longitude", "name", "address"].map((part) => ({
  name: `header_${part}`,
  component: "HEADER",
}));

function buttonVariables(
  { type, url = "", example = [] }: z.output<typeof Button>,
  index: number,
): Variables {
  const [sample] = [example].flat();
  if (type === "COPY_CODE") {
    const variable = { name: `button_${index}_code`, component: "BUTTONS", button_index: index } as const;
    return [{ ...variable, ...(sample ? { example: sample } : {}) }];
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

function variablesOf(component: "HEADER" | "BODY", text: string, { samples, named }: Samples): Variables {
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
