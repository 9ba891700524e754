/** Reads the values of a template from components, the form of the WhatsApp Cloud API. */
import { z } from "zod";
import { failInput, fileAddress, inputMessages } from "../../../../tools/contract/index.ts";
import { type Place, placesOf } from "../placeholders.ts";
import type { TemplateValues, Version } from "../version.ts";

const text = z.string().min(1).max(1024);
const Media = z.object({ link: fileAddress, filename: z.string().max(240).optional() });

const Parameter = z.discriminatedUnion("type", [
  // Strict: with parameter_name, the order may be another one than that of the places.
  z.strictObject({ type: z.literal("text"), text }),
  z.object({ type: z.literal("image"), image: Media }),
  z.object({ type: z.literal("video"), video: Media }),
  z.object({ type: z.literal("document"), document: Media }),
  z.object({ type: z.literal("payload"), payload: z.string().min(1).max(256) }),
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
    .pipe(z.enum(["url", "quick_reply"]))
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
  const parsed = z.array(Component).safeParse(input, { error: inputMessages });
  if (!parsed.success) {
    const issues = parsed.error.issues.map((issue) => ({
      ...issue,
      path: ["template", "components", ...issue.path],
    }));
    throw failInput(issues, { template: { components: input } });
  }
  const { header, buttons = [] } = version.template_data;
  const places = placesOf(version.template_data);
  const ofPlace = (place: Place) =>
    parsed.data.filter((component) => isOf(component, place)).flatMap(textsOf);
  const takes = (component: Component, { type }: Parameter) =>
    type === "text"
      ? places.some((place) => place.numbers.length > 0 && isOf(component, place))
      : type === "payload"
        ? component.type === "button" && buttons[component.index ?? 0]?.type === "quick_reply"
        : component.type === "header" && header?.type === type;
  return {
    texts: places.flatMap(ofPlace),
    media: parsed.data
      .filter(({ type }) => type === "header")
      .map(mediaOf)
      .find((media) => media !== undefined),
    payloads: new Map(
      parsed.data.flatMap((component) => {
        const payload = payloadOf(component);
        return payload === undefined ? [] : [[component.index ?? 0, payload] as const];
      }),
    ),
    problems: [
      ...places.flatMap((place) => countProblem(place, ofPlace(place).length)),
      ...parsed.data
        .filter((component) => component.parameters.some((parameter) => !takes(component, parameter)))
        .map(unknownProblem),
    ],
  };
}

const componentOf = { HEADER: "header", BODY: "body", BUTTONS: "button" } as const;

function isOf({ type, index = 0 }: Component, place: Place): boolean {
  return type === componentOf[place.component] && (place.button_index ?? index) === index;
}

function textsOf({ parameters }: Component): readonly string[] {
  return parameters.flatMap((parameter) => (parameter.type === "text" ? [parameter.text] : []));
}

function payloadOf({ parameters }: Component): string | undefined {
  return parameters.flatMap((parameter) => (parameter.type === "payload" ? [parameter.payload] : []))[0];
}

function mediaOf({ parameters }: Component) {
  const [media] = parameters.flatMap(toMedia);
  return media && { url: media.link, file_name: media.filename };
}

function toMedia(parameter: Parameter): readonly z.output<typeof Media>[] {
  return "image" in parameter
    ? [parameter.image]
    : "video" in parameter
      ? [parameter.video]
      : "document" in parameter
        ? [parameter.document]
        : [];
}

function countProblem({ component, button_index, numbers }: Place, count: number): readonly string[] {
  const name = button_index === undefined ? `the ${componentOf[component]}` : `button ${button_index}`;
  return count === numbers.length
    ? []
    : [`${name} has ${numbers.length} variables, and components gives ${count} values for it.`];
}

function unknownProblem({ type, index = 0 }: Component): string {
  const name = type === "button" ? `button ${index}` : `the ${type}`;
  return `${name} takes no such value.`;
}
