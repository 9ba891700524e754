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
  const bodyComponent: ComponentDefinition = {
    type: "BODY",
    text: body,
    example: bodySamples.length > 0 ? { body_text: [bodySamples] } : undefined,
  };
  const buttonsComponent: ComponentDefinition = {
    type: "BUTTONS",
    buttons: buttons.map((button, index) => toButton(button, samples("BUTTONS", index))),
  };
  return [
    ...(header ? [toHeader(header, { samples: samples("HEADER"), handle })] : []),
    bodyComponent,
    ...(footer === undefined ? [] : [toFooter(footer)]),
    ...(buttons.length > 0 ? [buttonsComponent] : []),
  ];
}

type TemplateData = TemplateVersion["template_data"];

function toHeader(
  { type, text }: NonNullable<TemplateData["header"]>,
  { samples, handle }: { readonly samples: readonly string[]; readonly handle: string | undefined },
): ComponentDefinition {
  if (type === "text") {
    const example = samples.length > 0 ? { header_text: samples } : undefined;
    return { type: "HEADER", format: "TEXT", text, example };
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
  return {
    type: type.toUpperCase(),
    text,
    url: isUrl ? url : undefined,
    example: isUrl && sample !== undefined ? [sample] : undefined,
    phone_number: type === "phone_number" ? phone_number : undefined,
  };
}

const sampleTexts = z.array(z.string());

const Header = z.object({
  type: z.literal("HEADER"),
  format: z.enum(["TEXT", "IMAGE", "VIDEO", "DOCUMENT"]),
  text: z.string().optional(),
  example: z
    .object({ header_text: sampleTexts.optional(), header_handle: sampleTexts.optional() })
    .optional(),
});
const Body = z.object({
  type: z.literal("BODY"),
  text: z.string(),
  example: z.object({ body_text: z.array(sampleTexts).optional() }).optional(),
});
const Footer = z.object({ type: z.literal("FOOTER"), text: z.string() });
const Button = z.object({
  type: z.enum(["QUICK_REPLY", "URL", "PHONE_NUMBER"]),
  text: z.string(),
  url: z.string().optional(),
  phone_number: z.string().optional(),
  example: z.union([sampleTexts, z.string()]).optional(),
});
const Buttons = z.object({ type: z.literal("BUTTONS"), buttons: z.array(Button) });

const Components = z.array(z.discriminatedUnion("type", [Header, Body, Footer, Buttons]));

type Content = Pick<TemplateVersion, "template_data" | "variables">;

/** Null if the template has parts that this service does not send, such as a carousel or a form. */
export function fromComponents(components: unknown): Content | null {
  const { data } = Components.safeParse(components);
  const body = data?.find((one) => one.type === "BODY");
  if (!data || !body) {
    return null;
  }
  const header = data.find((one) => one.type === "HEADER");
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
      ...namesOf("HEADER", header?.text ?? "", header?.example?.header_text ?? []),
      ...namesOf("BODY", body.text, body.example?.body_text?.[0] ?? []),
      ...buttons.flatMap(({ url = "", example = [] }, index) =>
        namesOf(
          "BUTTONS",
          url,
          [example].flat().map((sample) => withoutAddress(sample, url)),
        ).map(({ name, ...variable }) => ({
          ...variable,
          name: `button_${index}_${name}`,
          button_index: index,
        })),
      ),
    ],
  };
}

function fromHeader({ format, text, example }: z.output<typeof Header>): NonNullable<TemplateData["header"]> {
  if (format === "TEXT") {
    return { type: "text", text: text ?? "" };
  }
  const [handle] = example?.header_handle ?? [];
  const types = { IMAGE: "image", VIDEO: "video", DOCUMENT: "document" } as const;
  // Meta answers with the address of the sample.
  return { type: types[format], ...(handle && URL.canParse(handle) ? { media_url: handle } : {}) };
}

const buttonTypes = { QUICK_REPLY: "quick_reply", URL: "url", PHONE_NUMBER: "phone_number" } as const;

function fromButton({ type, text, url, phone_number }: z.output<typeof Button>) {
  return {
    type: buttonTypes[type],
    text,
    ...(url === undefined ? {} : { url }),
    ...(phone_number === undefined ? {} : { phone_number }),
  };
}

/** A sample is the value of the variable, or the whole address with it. */
function withoutAddress(sample: string, url: string): string {
  const [fixed = ""] = url.split("{{");
  return sample.startsWith(fixed) ? sample.slice(fixed.length) : sample;
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
