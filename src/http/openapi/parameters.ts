/** Describes the parameters in the path and in the query of a request. */
import { type JsonSchema, pathFields } from "../../../tools/contract/index.ts";

/** A converted object schema. */
export interface Fields {
  readonly properties: Readonly<Record<string, JsonSchema>>;
  readonly required: readonly string[];
}

const noFields: Fields = { properties: {}, required: [] };

export function readFields(schema: JsonSchema | undefined): Fields {
  return { ...noFields, ...schema };
}

/** The fields that are not in the path. */
export function fieldsOutside(path: string, { properties, required }: Fields): Fields {
  const inPath = pathFields(path);
  const others = Object.entries(properties).filter(([field]) => !inPath.includes(field));
  return {
    properties: Object.fromEntries(others),
    required: required.filter((field) => !inPath.includes(field)),
  };
}

/** A field of the path without a schema is a text. */
export function describePath(path: string, { properties }: Fields): JsonSchema[] {
  return pathFields(path).map((name) => ({
    ...describeParameter(name, properties[name] ?? { type: "string" }),
    in: "path",
    required: true,
  }));
}

export function describeQuery({ properties, required }: Fields): JsonSchema[] {
  return Object.entries(properties).map(([name, schema]) => ({
    ...describeParameter(name, schema),
    in: "query",
    required: required.includes(name),
  }));
}

function describeParameter(name: string, { description, ...schema }: JsonSchema): JsonSchema {
  return { name, ...(description === undefined ? {} : { description }), schema };
}
