/** What Meta checks at once when a template is created or edited. What it decides later is the review. */
import { z } from "zod";
import type { Store } from "../state/store.ts";
import type { Category, TemplateComponent } from "../state/template.ts";
import { completeAuthentication } from "./authentication.ts";
import { requireButtons } from "./buttons.ts";
import { templateError, templateRule } from "./template-error.ts";
import { countWords, findVariableProblem, type ParameterFormat, variablesOf } from "./variables.ts";

const Component = z.object({ type: z.string().transform((type) => type.toUpperCase()) }).loose();

export interface TemplateDraft {
  readonly category: Category;
  readonly parameter_format: ParameterFormat;
  readonly components: unknown;
  readonly ttl: number | null;
}

/** How long delivery may be tried, in seconds; -1 is 30 days. */
const ttlRanges: Readonly<Record<Category, readonly [from: number, to: number]>> = {
  AUTHENTICATION: [30, 900],
  UTILITY: [30, 43_200],
  MARKETING: [43_200, 2_592_000],
};

/** @returns the components as they are stored; @throws GraphError */
export function requireTemplate(store: Store, draft: TemplateDraft): TemplateComponent[] {
  requireTtl(draft);
  const parsed = z.array(Component).safeParse(draft.components);
  if (!parsed.success) {
    throw templateRule("Each component needs a type");
  }
  const components: TemplateComponent[] = parsed.data;
  const only = (type: string) => {
    const found = components.filter((component) => component.type === type);
    if (found.length > 1) {
      throw templateRule(`A template has at most one ${type} component`);
    }
    return found[0];
  };
  const [header, body, footer, buttons] = ["HEADER", "BODY", "FOOTER", "BUTTONS"].map(only);
  if (!body) {
    throw templateRule("A template needs a BODY component");
  }
  requireButtons(buttons?.buttons ?? []);
  if (draft.category === "AUTHENTICATION") {
    return completeAuthentication(components);
  }
  requireHeader(store, header, draft.parameter_format);
  requireBody(body, draft.parameter_format);
  requireFooter(footer);
  return components;
}

function requireTtl({ ttl, category }: TemplateDraft): void {
  const [from, to] = ttlRanges[category];
  if (ttl !== null && ttl !== -1 && (ttl < from || ttl > to)) {
    throw templateRule(`message_send_ttl_seconds of a ${category} template is from ${from} to ${to}, or -1`);
  }
}

function requireHeader(store: Store, header: TemplateComponent | undefined, format: ParameterFormat): void {
  if (!header) {
    return;
  }
  const kind = header.format?.toUpperCase() ?? "TEXT";
  if (["IMAGE", "VIDEO", "DOCUMENT"].includes(kind)) {
    requireSample(store, header);
    return;
  }
  if (kind === "LOCATION") {
    return;
  }
  if (kind !== "TEXT") {
    throw templateError(2388047, `A header has no format ${kind}`);
  }
  const { text = "" } = header;
  requireLength("HEADER", text, 60);
  if (variablesOf(text).length > 1) {
    throw templateError(2388047, "A header has at most one variable");
  }
  const problem = text === "" ? "A text header needs a text" : findVariableProblem(text, format);
  if (problem !== undefined) {
    throw templateError(2388047, problem);
  }
  const samples = countSamples(header, "header_text");
  if (variablesOf(text).length > 0 && samples !== 1) {
    throw templateError(2388047, "The variable of the header needs a sample in example");
  }
}

/** The handle of a file that was uploaded with a resumable upload. */
function requireSample(store: Store, header: TemplateComponent): void {
  const handles = z.object({ header_handle: z.array(z.string()).min(1) }).safeParse(header.example);
  if (!handles.success) {
    throw templateError(2388047, "A header with media needs a sample in example.header_handle");
  }
  if (!handles.data.header_handle.every((handle) => store.handles.has(handle))) {
    throw templateRule("example.header_handle has a handle that no upload has returned");
  }
}

function requireBody(body: TemplateComponent, format: ParameterFormat): void {
  const { text = "" } = body;
  requireLength("BODY", text, 1024);
  const variables = variablesOf(text);
  const problem = text.trim() === "" ? "The body needs a text" : findVariableProblem(text, format);
  if (problem !== undefined) {
    throw templateError(2388072, problem);
  }
  if (/^\s*\{\{|\}\}\s*$/.test(text)) {
    throw templateError(2388299, "Variables must not be at the start or end of the body");
  }
  if (variables.length > 0 && countSamples(body, "body_text") !== variables.length) {
    throw templateError(2388072, "Each variable of the body needs a sample in example");
  }
  // Two words and one more for each variable.
  if (variables.length > 0 && countWords(text) < 2 * variables.length + 1) {
    throw templateError(2388293, "The body has too many variables for its length");
  }
}

function requireFooter(footer: TemplateComponent | undefined): void {
  const text = footer?.text ?? "";
  requireLength("FOOTER", text, 60);
  if (variablesOf(text).length > 0) {
    throw templateError(2388073, "A footer has no variables");
  }
}

export function requireLength(what: string, text: string, max: number): void {
  if ([...text].length > max) {
    throw templateError(2388040, `${what} has more than ${max} characters`);
  }
}

/** Of a header a list, of a body a list in a list; named ones are objects. */
function countSamples({ example = {} }: TemplateComponent, name: "header_text" | "body_text"): number {
  const named = example[`${name}_named_params`];
  const positional =
    name === "body_text" ? z.array(z.array(z.string())).safeParse(example[name]).data?.[0] : example[name];
  const list = named ?? positional;
  return Array.isArray(list) ? list.length : 0;
}
