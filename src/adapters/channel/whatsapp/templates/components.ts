/** The content of a template in Meta's components, and back. */
import { z } from "zod";
import type { TemplateSubmission, TemplateVersion } from "../../../../ports/channel/template-authority.ts";
import type { ButtonDefinition, ComponentDefinition } from "../contract.ts";
import { toAuthentication } from "./authentication.ts";
import { Carousel, cardVariables, fromCard } from "./carousel.ts";
import {
  Body,
  Buttons,
  buttonVariables,
  Footer,
  fromButton,
  fromHeader,
  Header,
  hasNames,
  isOfFormat,
  locationVariables,
  type namedParams,
  type Variables,
  variablesOf,
} from "./parts.ts";

/** `handle` names the uploaded sample of a media header. JSON leaves undefined members out. */
export function toComponents(
  { template_data, variables }: Pick<TemplateSubmission, "template_data" | "variables">,
  handle: string | undefined,
): readonly ComponentDefinition[] {
  const { header, body, footer, buttons = [], authentication } = template_data;
  if (authentication) {
    return toAuthentication(authentication);
  }
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

const Offer = z.object({
  type: z.literal("LIMITED_TIME_OFFER"),
  limited_time_offer: z.object({ text: z.string(), has_expiration: z.boolean().default(false) }),
});

const Components = z.array(z.discriminatedUnion("type", [Header, Body, Footer, Offer, Buttons, Carousel]));

type Content = Pick<TemplateVersion, "template_data" | "variables">;

/** Null if the template has parts that this service does not send, such as a catalog. */
export function fromComponents(components: unknown, format: "NAMED" | "POSITIONAL"): Content | null {
  const { data } = Components.safeParse(components);
  const body = data?.find((one) => one.type === "BODY");
  if (!data || !body) {
    return null;
  }
  const header = data.find((one) => one.type === "HEADER");
  const offer = data.find((one) => one.type === "LIMITED_TIME_OFFER")?.limited_time_offer;
  const cards = data.find((one) => one.type === "CAROUSEL")?.cards.map(fromCard);
  const texts = [header?.text, body.text, ...(cards ?? []).map((card) => card.data.body)];
  if (!isOfFormat(format, texts.join(" "))) {
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
      ...(offer ? { offer } : {}),
      ...(cards ? { cards: cards.map((card) => card.data) } : {}),
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
      ...(offer?.has_expiration ? offerVariables : []),
      ...(cards ?? []).flatMap(cardVariables),
    ],
  };
}

const offerVariables: Variables = [{ name: "offer_expires_at", component: "OFFER" }];
