/**
 * The variables of a template's texts: {{1}}, {{2}} or, in templates with named parameters, {{first_name}}.
 */

export type ParameterFormat = "POSITIONAL" | "NAMED";

/** The names in order of their first appearance. */
export function variablesOf(text: string | undefined): string[] {
  const names = Array.from((text ?? "").matchAll(/\{\{\s*([^{}]*?)\s*\}\}/g), ([, name = ""]) => name);
  return [...new Set(names)];
}

/** @returns what is wrong with the names */
export function findVariableProblem(text: string, format: ParameterFormat): string | undefined {
  const names = variablesOf(text);
  if (/\}\}\s*\{\{/.test(text)) {
    return "Variables must not follow each other directly";
  }
  if (format === "NAMED") {
    return names.every((name) => /^[a-z][a-z0-9_]*$/.test(name))
      ? undefined
      : "Names of variables have lower-case letters, digits and underscores";
  }
  return names.every((name, index) => name === String(index + 1))
    ? undefined
    : "Variables must be numbered from 1 without gaps, in the order of the text";
}

/** Words that are no variable. */
export function countWords(text: string): number {
  return text
    .replace(/\{\{[^{}]*\}\}/g, " ")
    .split(/\s+/)
    .filter((word) => /[\p{L}\p{N}]/u.test(word)).length;
}
