/** Reads the values of a template from `components`: a list of parts, each with its parameters. */
import { z } from "zod";
import { failInput, fileAddress, inputMessages, jsonObject } from "../../../../../tools/contract/index.ts";
import { type VariableText, variableTextsOf } from "../placeholders.ts";
import { formDefaults, payloadKey, samplesAt, type TemplateValues, type Version } from "../version.ts";

const text = z.string().min(1).max(1024);
const Media = z.object({ link: fileAddress, filename: z.string().max(240).optional() });

const degrees = z.union([z.string().min(1).max(32), z.number()]).transform(String);
const Location = z.object({ latitude: degrees, longitude: degrees, name: text, address: text });

const Parameter = z.discriminatedUnion("type", [
  z.strictObject({ type: z.literal("text"), text, parameter_name: z.string().max(64).optional() }),
  z.object({ type: z.literal("image"), image: Media }),
  z.object({ type: z.literal("video"), video: Media }),
  z.object({ type: z.literal("document"), document: Media }),
  z.object({ type: z.literal("payload"), payload: z.string().min(1).max(256) }),
  z.object({ type: z.literal("coupon_code"), coupon_code: text }),
  z.object({ type: z.literal("location"), location: Location }),
  z.object({
    type: z.literal("action"),
    action: z.strictObject({ flow_token: text.optional(), flow_action_data: jsonObject.optional() }),
  }),
  z.object({
    type: z.literal("limited_time_offer"),
    limited_time_offer: z.object({ expiration_time_ms: z.int().min(0).max(253_402_300_799_000) }),
  }),
]);
type Parameter = z.output<typeof Parameter>;

const partTypes = ["header", "body", "button", "limited_time_offer"] as const;

/** Of the template, or of a card. */
const Part = z.object({
  type: z.string().toLowerCase().pipe(z.enum(partTypes)),
  sub_type: z
    .string()
    .toLowerCase()
    .pipe(z.enum(["url", "quick_reply", "copy_code", "flow"]))
    .optional(),
  index: z.union([z.int().min(0).max(9), z.string().regex(/^\d$/).transform(Number)]).optional(),
  parameters: z.array(Parameter).max(100).default([]),
});
const Card = z.object({ card_index: z.int().min(0).max(9), components: z.array(Part).max(10).default([]) });
const SentComponent = Part.extend({
  type: z
    .string()
    .toLowerCase()
    .pipe(z.enum([...partTypes, "carousel"])),
  cards: z.array(Card).max(10).default([]),
});
/** A part of the template, or of the card with this index. */
interface Component extends z.output<typeof Part> {
  readonly card_index?: number | undefined;
}

/** @throws Failure `invalid_request`. */
export function readComponents(
  version: Version,
  input: readonly Readonly<Record<string, unknown>>[],
): TemplateValues {
  const components = parseComponents(input);
  const places = variableTextsOf(version.template_data);
  const ofPlace = (place: VariableText) => {
    const given = components.filter((component) => isOf(component, place)).flatMap(textParametersOf);
    const values = inOrder(place, given).map(({ text: value }) => value);
    return values.length === 0 ? samplesAt(version, place) : values;
  };
  return {
    texts: places.flatMap(ofPlace),
    media: components.filter(({ card_index }) => card_index === undefined).flatMap(mediaOf)[0],
    payloads: new Map(components.flatMap((component) => payloadsOf(component))),
    problems: [
      ...components.flatMap((component) => typeProblems(version, component)),
      ...places.flatMap((place) => countProblem(place, ofPlace(place).length)),
      ...components.flatMap((component) => nameProblems(component, places)),
    ],
  };
}

function parseComponents(input: readonly Readonly<Record<string, unknown>>[]): readonly Component[] {
  const { data, error } = z.array(SentComponent).safeParse(input, { error: inputMessages });
  if (error) {
    const issues = error.issues.map((issue) => ({
      ...issue,
      path: ["template", "components", ...issue.path],
    }));
    throw failInput(issues, { template: { components: input } });
  }
  return data.flatMap(({ type, cards, ...part }) =>
    type === "carousel"
      ? cards.flatMap(({ card_index, components }) => components.map((one) => ({ ...one, card_index })))
      : [{ ...part, type }],
  );
}

const componentOf = {
  HEADER: "header",
  BODY: "body",
  BUTTONS: "button",
  OFFER: "limited_time_offer",
  CARD_HEADER: "header",
  CARD_BODY: "body",
  CARD_BUTTONS: "button",
} as const;

function isOf({ type, index = 0, card_index }: Component, place: VariableText): boolean {
  return (
    type === componentOf[place.component] &&
    (place.button_index ?? index) === index &&
    place.card_index === card_index
  );
}

type TextParameter = Omit<Extract<Parameter, { readonly type: "text" }>, "type">;

/** With values of other types, which are texts too: codes, times, places, forms, and the files of cards. */
function textParametersOf({ parameters, card_index }: Component): readonly TextParameter[] {
  return parameters.flatMap((parameter) => {
    if (parameter.type === "limited_time_offer") {
      const { expiration_time_ms } = parameter.limited_time_offer;
      return [{ text: new Date(expiration_time_ms).toISOString() }];
    }
    if (card_index !== undefined && (parameter.type === "image" || parameter.type === "video")) {
      return mediaOf({ parameters: [parameter] }).map(({ url }) => ({ text: url }));
    }
    if (parameter.type === "location") {
      const { latitude, longitude, name, address } = parameter.location;
      return [latitude, longitude, name, address].map((value) => ({ text: value }));
    }
    if (parameter.type === "action") {
      const { flow_token, flow_action_data } = parameter.action;
      const [token, data] = formDefaults;
      const given = flow_action_data && JSON.stringify(flow_action_data);
      return [{ text: flow_token ?? token }, { text: given ?? data }];
    }
    if (parameter.type === "coupon_code") {
      return [{ text: parameter.coupon_code }];
    }
    return parameter.type === "text" ? [parameter] : [];
  });
}

/** With names, values may come in any order; those without are in the order of the placeholders. */
function inOrder({ names }: VariableText, given: readonly TextParameter[]): readonly TextParameter[] {
  return names.length > 0 && given.some(({ parameter_name }) => parameter_name !== undefined)
    ? names.flatMap((name) => given.find(({ parameter_name }) => parameter_name === name) ?? [])
    : given;
}

/** Checks that named values are for names of the text. */
function nameProblems(component: Component, places: readonly VariableText[]): readonly string[] {
  const names = places.find((place) => isOf(component, place))?.names ?? [];
  return textParametersOf(component).flatMap(({ parameter_name: name }) =>
    name === undefined || names.includes(name) ? [] : [`${nameOf(component)} has no variable ${name}.`],
  );
}

function payloadsOf({ index = 0, card_index, parameters }: Component) {
  return parameters.flatMap((parameter) =>
    parameter.type === "payload" ? [[payloadKey(index, card_index), parameter.payload] as const] : [],
  );
}

function mediaOf({ parameters }: Pick<Component, "parameters">) {
  return parameters.flatMap((parameter) => {
    const { image, video, document } = {
      image: undefined,
      video: undefined,
      document: undefined,
      ...parameter,
    };
    const media = image ?? video ?? document;
    return media ? [{ url: media.link, file_name: media.filename }] : [];
  });
}

/** Checks that the values have the type that this part of the template takes. */
function typeProblems(version: Version, component: Component): readonly string[] {
  const taken = takenType(version, component);
  const isOther = component.parameters.some(({ type }) => type !== taken);
  return isOther ? [`${nameOf(component)} takes ${taken ? `values of type ${taken}` : "no values"}.`] : [];
}

function takenType(
  { template_data }: Version,
  { type, index = 0, card_index }: Component,
): Parameter["type"] | undefined {
  const part = card_index === undefined ? template_data : template_data.cards?.[card_index];
  const { header, buttons = [] } = part ?? {};
  const takenByButton = {
    quick_reply: "payload",
    url: "text",
    phone_number: undefined,
    copy_code: "coupon_code",
    form: "action",
  } as const;
  const button = buttons[index];
  const taken = {
    header: header?.type,
    body: part && "text",
    button: button && takenByButton[button.type],
    limited_time_offer: template_data.offer?.has_expiration ? "limited_time_offer" : undefined,
  } as const;
  return taken[type];
}

function countProblem(
  { component, button_index: index, card_index, numbers }: VariableText,
  count: number,
): readonly string[] {
  const name = nameOf({ type: componentOf[component], index, card_index });
  return count === numbers.length
    ? []
    : [`${name} has ${numbers.length} variables, and components gives ${count} values for it.`];
}

function nameOf({ type, index = 0, card_index }: Omit<Component, "parameters">): string {
  const card = card_index === undefined ? "" : ` of card ${card_index}`;
  return (type === "button" ? `button ${index}` : `the ${type}`) + card;
}
