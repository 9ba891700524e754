/** Writes YAML of maps, lists, texts and numbers. */
export type Yaml = string | number | readonly Yaml[] | { readonly [key: string]: Yaml };

export function toYaml(value: Yaml, indent = ""): string {
  if (typeof value !== "object") {
    return `${typeof value === "string" ? quote(value) : value}\n`;
  }
  const inner = `${indent}  `;
  if (Array.isArray(value)) {
    return value.map((item) => `${indent}- ${toYaml(item, inner).trimStart()}`).join("");
  }
  return Object.entries(value)
    .map(([key, item]) => `${indent}${key}:${typeof item === "object" ? "\n" : " "}${toYaml(item, inner)}`)
    .join("");
}

/** In single quotes only if that saves the escapes of double quotes; YAML reads others as JSON does. */
function quote(text: string): string {
  return text.includes('"') && !/['\\\n]/.test(text) ? `'${text}'` : JSON.stringify(text);
}
