/** A message with a template in the form of the Cloud API. */
import type { TemplateCard, TemplateMessage } from "../../../../ports/channel/message-content.ts";
import type * as contract from "../contract.ts";
import { type MediaIds, mediaSourceOf, toMedia } from "./media.ts";

type Component =
  | contract.HeaderComponent
  | contract.BodyComponent
  | contract.ButtonComponent
  | contract.LimitedTimeOfferComponent
  | contract.TemplateComponent;

export function toTemplate(template: TemplateMessage, ids: MediaIds): contract.TemplateObject {
  const { name, language, values, buttons, offer, cards = [], code } = template;
  if (code !== undefined) {
    return { name: name.toLowerCase(), language: { code: language }, components: componentsOf(code) };
  }
  const components: readonly Component[] = [
    ...headerOf(template, ids),
    ...bodyOf(values),
    ...values.buttons.map((value) => buttonValueOf(buttons[value.index]?.type, value)),
    ...payloadsOf(buttons),
    ...(offer && offer.expires_at !== null ? [offerOf(offer.expires_at)] : []),
    ...(cards.length > 0 ? [{ type: "carousel" as const, cards: cards.map(toCard(ids)) }] : []),
  ];
  return {
    // WhatsApp has names in lower case only.
    name: name.toLowerCase(),
    language: { code: language },
    components: components.length > 0 ? components : undefined,
  };
}

/** WhatsApp takes the code twice: for the text, and for the button. */
function componentsOf(code: string): readonly Component[] {
  return [{ type: "body", parameters: [textOf(code)] }, buttonOf("url", 0, textOf(code))];
}

type ButtonValue = TemplateMessage["values"]["buttons"][number];

function buttonValueOf(
  type: TemplateMessage["buttons"][number]["type"] | undefined,
  { index, value, data = "{}" }: ButtonValue,
): contract.ButtonComponent {
  if (type === "copy_code") {
    return buttonOf("copy_code", index, { type: "coupon_code", coupon_code: value });
  }
  if (type === "form") {
    const flow_action_data = data === "{}" ? undefined : JSON.parse(data);
    return buttonOf("flow", index, { type: "action", action: { flow_token: value, flow_action_data } });
  }
  return buttonOf("url", index, textOf(value));
}

function payloadsOf(buttons: TemplateMessage["buttons"]): readonly contract.ButtonComponent[] {
  return buttons.flatMap(({ type, payload }, index) =>
    type === "quick_reply" && payload !== undefined
      ? [buttonOf("quick_reply", index, { type: "payload", payload })]
      : [],
  );
}

function offerOf(expires_at: string): contract.LimitedTimeOfferComponent {
  const limited_time_offer = { expiration_time_ms: Date.parse(expires_at) };
  return { type: "limited_time_offer", parameters: [{ type: "limited_time_offer", limited_time_offer }] };
}

type SentCards = NonNullable<contract.TemplateComponent["cards"]>;

const toCard =
  (ids: MediaIds) =>
  ({ header, buttons, values }: TemplateCard, card_index: number): SentCards[number] => ({
    card_index,
    components: [
      { type: "header", parameters: [mediaParameter(header, ids)] },
      ...(values.body.length > 0
        ? [{ type: "body" as const, parameters: namedTexts(values.body, values.names) }]
        : []),
      ...values.buttons.map(({ index, value }) => ({
        type: "button" as const,
        sub_type: "url" as const,
        index: String(index),
        parameters: [textOf(value)],
      })),
      ...buttons.flatMap(({ type, payload }, index) =>
        type === "quick_reply" && payload !== undefined
          ? [
              {
                type: "button" as const,
                sub_type: "quick_reply" as const,
                index: String(index),
                parameters: [{ type: "payload", payload }],
              },
            ]
          : [],
      ),
    ],
  });

function headerOf({ header, values }: TemplateMessage, ids: MediaIds): readonly contract.HeaderComponent[] {
  if (header === null) {
    return [];
  }
  if (header.type === "text") {
    return values.header.length > 0
      ? [{ type: "header", parameters: namedTexts(values.header, values.names?.header) }]
      : [];
  }
  if (header.type === "location") {
    return [{ type: "header", parameters: [header] }];
  }
  return [{ type: "header", parameters: [mediaParameter(header, ids)] }];
}

type MediaHeader = Extract<TemplateMessage["header"], { readonly media: unknown }>;

function mediaParameter({ type, media }: MediaHeader, ids: MediaIds): HeaderParameter {
  const source = mediaSourceOf(media, ids);
  const filename = media.file_name ?? undefined;
  const parameters: Readonly<Record<typeof type, HeaderParameter>> = {
    image: { type: "image", image: source },
    video: { type: "video", video: source },
    document: { type: "document", document: toMedia<HeaderDocument>(source, { filename }) },
  };
  return parameters[type];
}

type HeaderDocument = contract.DocumentParameter["document"];
type HeaderParameter = NonNullable<contract.HeaderComponent["parameters"]>[number];

function bodyOf({ body, names }: TemplateMessage["values"]): readonly contract.BodyComponent[] {
  return body.length > 0 ? [{ type: "body", parameters: namedTexts(body, names?.body) }] : [];
}

/** WhatsApp takes the values of variables with names by their names. */
function namedTexts(values: readonly string[], names: readonly string[] = []): contract.TextParameter[] {
  return values.map((value, index) => ({ ...textOf(value), parameter_name: names[index] }));
}

const textOf = (text: string) => ({ type: "text", text }) as const;

function buttonOf(
  sub_type: contract.ButtonComponent["sub_type"],
  index: number,
  parameter: contract.ButtonComponent["parameters"][number],
): contract.ButtonComponent {
  return { type: "button", sub_type, index: String(index), parameters: [parameter] };
}
