/** What Meta checks at once when a template is created or edited. What it decides later is the review. */
import { z } from "zod";
import type { Store } from "../state/store.ts";
import type { Category, TemplateComponent } from "../state/template.ts";
import { completeAuthentication } from "./authentication.ts";
import { requireButtons } from "./buttons.ts";
import { requireMarketing } from "./marketing.ts";
import { templateError, templateRule } from "./template-error.ts";
import { countSamples, requireBody, requireLength, requireSample } from "./texts.ts";
import { findVariableProblem, type ParameterFormat, variablesOf } from "./variables.ts";

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
  return requireMarketing(store, { ...draft, components });
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

function requireFooter(footer: TemplateComponent | undefined): void {
  const text = footer?.text ?? "";
  requireLength("FOOTER", text, 60);
  if (variablesOf(text).length > 0) {
    throw templateError(2388073, "A footer has no variables");
  }
}
