/** Compares a converted schema with the schema that the server lists. */
import type { ToolSchema } from "./client.ts";

/** What is wrong with it; undefined if a model can send every argument. */
export function findProblem(original: ToolSchema, converted: ToolSchema): string | undefined {
  const [places, kept] = [placesOf(original), placesOf(converted)];
  const lost = [...places.keys()].filter((path) => !kept.has(path));
  if (lost.length > 0) {
    return `loses ${lost.join(", ")}`;
  }
  const typeless = [...kept].filter(([path, schema]) => places.has(path) && !isTyped(schema));
  return typeless.length > 0 ? `has no type for ${typeless.map(([path]) => path).join(", ")}` : undefined;
}

/** The objects of any members that became objects of none. */
export function findClosed(original: ToolSchema, converted: ToolSchema): string[] {
  const kept = placesOf(converted);
  return [...placesOf(original)].flatMap(([path, schema]) =>
    schema.additionalProperties === true && kept.get(path)?.additionalProperties === false ? [path] : [],
  );
}

/** Every property by its path; a union with null is its other member. */
function placesOf(schema: ToolSchema, path = "", found = new Map<string, ToolSchema>()) {
  const inner = withoutNull(schema);
  found.set(path, inner);
  for (const [name, property] of Object.entries((inner.properties ?? {}) as Record<string, ToolSchema>)) {
    placesOf(property, `${path}.${name}`, found);
  }
  if (typeof inner.items === "object" && inner.items !== null) {
    placesOf(inner.items as ToolSchema, `${path}[]`, found);
  }
  return found;
}

function withoutNull(schema: ToolSchema): ToolSchema {
  const options = (schema.anyOf ?? []) as readonly ToolSchema[];
  const [value, ...others] = options.filter(({ type }) => type !== "null");
  return value !== undefined && others.length === 0 ? value : schema;
}

function isTyped({ type }: ToolSchema): boolean {
  return typeof type === "string" || Array.isArray(type);
}
