/** What Meta checks of a text and of the sample of a header. */
import { z } from "zod";
import type { Store } from "../state/store.ts";
import type { TemplateComponent } from "../state/template.ts";
import { templateError, templateRule } from "./template-error.ts";
import { countWords, findVariableProblem, type ParameterFormat, variablesOf } from "./variables.ts";

/** The handle of a file that was uploaded with a resumable upload. */
export function requireSample(store: Store, header: TemplateComponent): void {
  const handles = z.object({ header_handle: z.array(z.string()).min(1) }).safeParse(header.example);
  if (!handles.success) {
    throw templateError(2388047, "A header with media needs a sample in example.header_handle");
  }
  if (!handles.data.header_handle.every((handle) => store.handles.has(handle))) {
    throw templateRule("example.header_handle has a handle that no upload has returned");
  }
}

export function requireBody(body: TemplateComponent, format: ParameterFormat): void {
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

export function requireLength(what: string, text: string, max: number): void {
  if ([...text].length > max) {
    throw templateError(2388040, `${what} has more than ${max} characters`);
  }
}

/** Of a header a list, of a body a list in a list; named ones are objects. */
export function countSamples({ example = {} }: TemplateComponent, name: "header_text" | "body_text"): number {
  const named = example[`${name}_named_params`];
  const positional =
    name === "body_text" ? z.array(z.array(z.string())).safeParse(example[name]).data?.[0] : example[name];
  const list = named ?? positional;
  return Array.isArray(list) ? list.length : 0;
}
