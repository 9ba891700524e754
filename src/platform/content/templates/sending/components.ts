/** Reads the values of a template from `components`: a list of parts, each with its parameters. */
import { z } from "zod";
import { failInput, fileAddress, inputMessages } from "../../../../../tools/contract/index.ts";
import { type VariableText, variableTextsOf } from "../placeholders.ts";
import type { TemplateValues, Version } from "../version.ts";

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
]);
type Parameter = z.output<typeof Parameter>;

const Component = z.object({
  type: z
    .string()
    .toLowerCase()
    .pipe(z.enum(["header", "body", "button"])),
  sub_type: z
    .string()
    .toLowerCase()
    .pipe(z.enum(["url", "quick_reply", "copy_code"]))
    .optional(),
  index: z.union([z.int().min(0).max(9), z.string().regex(/^\d$/).transform(Number)]).optional(),
  parameters: z.array(Parameter).max(100).default([]),
});
type Component = z.output<typeof Component>;

/** @throws Failure `invalid_request`. */
export function readComponents(
  version: Version,
  input: readonly Readonly<Record<string, unknown>>[],
): TemplateValues {
  const components = parseComponents(input);
  const places = variableTextsOf(version.template_data);
  const ofPlace = (place: VariableText) =>
    inOrder(place, components.filter((component) => isOf(component, place)).flatMap(textParametersOf)).map(
      ({ text: value }) => value,
    );
  return {
    texts: places.flatMap(ofPlace),
    media: components.flatMap(mediaOf)[0],
    payloads: new Map(components.flatMap((component) => payloadsOf(component))),
    problems: [
      ...components.flatMap((component) => typeProblems(version, component)),
      ...places.flatMap((place) => countProblem(place, ofPlace(place).length)),
      ...components.flatMap((component) => nameProblems(component, places)),
    ],
  };
}

function parseComponents(input: readonly Readonly<Record<string, unknown>>[]): readonly Component[] {
  const { data, error } = z.array(Component).safeParse(input, { error: inputMessages });
  if (error) {
    const issues = error.issues.map((issue) => ({
      ...issue,
      path: ["template", "components", ...issue.path],
    }));
    throw failInput(issues, { template: { components: input } });
  }
  return data;
}

const componentOf = { HEADER: "header", BODY: "body", BUTTONS: "button" } as const;

function isOf({ type, index = 0 }: Component, place: VariableText): boolean {
  return type === componentOf[place.component] && (place.button_index ?? index) === index;
}

type TextParameter = Omit<Extract<Parameter, { readonly type: "text" }>, "type">;

/** With the code of a button and the four values of a location, which are texts too. */
function textParametersOf({ parameters }: Component): readonly TextParameter[] {
  return parameters.flatMap((parameter) => {
    if (parameter.type === "location") {
      const { latitude, longitude, name, address } = parameter.location;
      return [latitude, longitude, name, address].map((value) => ({ text: value }));
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

function payloadsOf({ index = 0, parameters }: Component): readonly (readonly [number, string])[] {
  return parameters.flatMap((parameter) =>
    parameter.type === "payload" ? [[index, parameter.payload] as const] : [],
  );
}

function mediaOf({ parameters }: Component) {
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
  { template_data: { header, buttons = [] } }: Version,
  { type, index = 0 }: Component,
): Parameter["type"] | undefined {
  const takenByButton = {
    quick_reply: "payload",
    url: "text",
    phone_number: undefined,
    copy_code: "coupon_code",
  } as const;
  const button = buttons[index];
  const taken = { header: header?.type, body: "text", button: button && takenByButton[button.type] } as const;
  return taken[type];
}

function countProblem(
  { component, button_index: index, numbers }: VariableText,
  count: number,
): readonly string[] {
  const name = nameOf({ type: componentOf[component], index });
  return count === numbers.length
    ? []
    : [`${name} has ${numbers.length} variables, and components gives ${count} values for it.`];
}

function nameOf({ type, index = 0 }: Pick<Component, "type" | "index">): string {
  return type === "button" ? `button ${index}` : `the ${type}`;
}
