/**
 * Keeps a list of tools closed: its texts name no tool that is missing in the list.
 *
 * A text may name a tool only in a clause that can be removed: a sentence, or a clause that begins with "; "
 * or ", from ". Such clauses are removed when a list is made, because filters can hide any tool.
 */
import type { JsonSchema } from "./json-schema/index.ts";

/** The texts of a tool. */
interface ToolTexts {
  readonly name: string;
  readonly description?: string;
  readonly inputSchema: JsonSchema;
}

/** Removes from the tools of one list every mention of the other tools in `known`. */
export function closeTexts<Tool extends ToolTexts>(tools: readonly Tool[], known: Iterable<string>): Tool[] {
  const absent = new Set(known);
  for (const { name } of tools) {
    absent.delete(name);
  }
  return tools.map((tool) => ({
    ...tool,
    ...(tool.description === undefined ? {} : { description: removeMentions(tool.description, absent) }),
    inputSchema: closeSchema(tool.inputSchema, absent),
  }));
}

/** Removes the clauses of a text that name one of these tools. */
export function removeMentions(text: string, absent: ReadonlySet<string>): string {
  const clauses = text.split(/(?=(?<=\.) |; |, from )/);
  const closed = clauses.map((clause) => {
    const isMention = (clause.match(/\w+/g) ?? []).some((word) => absent.has(word));
    // A clause that ends a sentence leaves its full stop.
    return isMention ? (/^[;,].*\.$/.test(clause) ? "." : "") : clause;
  });
  return closed.join("").trim();
}

/** Removes mentions from the descriptions of a schema and of the schemas in it. */
function closeSchema(schema: JsonSchema, absent: ReadonlySet<string>): JsonSchema {
  const { description, properties, items } = schema;
  const isObject = typeof properties === "object" && properties !== null;
  return {
    ...schema,
    ...(typeof description === "string" ? { description: removeMentions(description, absent) } : {}),
    ...(isObject ? { properties: closeProperties(properties, absent) } : {}),
    ...(isSchema(items) ? { items: closeSchema(items, absent) } : {}),
  };
}

function closeProperties(properties: object, absent: ReadonlySet<string>): JsonSchema {
  return Object.fromEntries(
    Object.entries(properties).map(([name, schema]) => [
      name,
      isSchema(schema) ? closeSchema(schema, absent) : schema,
    ]),
  );
}

function isSchema(value: unknown): value is JsonSchema {
  return typeof value === "object" && value !== null;
}
