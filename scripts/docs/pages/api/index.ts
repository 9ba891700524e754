/**
 * The reference of the API: a page for each resource with its operations, as Markdown that is made from the
 * OpenAPI document.
 */
import { type Operation, toolMappingsOf } from "../../../../tools/contract/index.ts";
import { code, json, table } from "../../markdown.ts";
import { toCurl } from "./curl.ts";
import {
  apiDocument,
  type DescribedOperation,
  operations,
  type Parameter,
  resolveSchema,
} from "./document.ts";
import { fieldRows } from "./fields.ts";

export interface ApiPage {
  /** The tag of its operations in the document. */
  readonly resource: string;
  readonly markdown: string;
}

interface Member extends DescribedOperation {
  readonly method: string;
  readonly path: string;
}

const members: readonly Member[] = Object.entries(apiDocument.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, described]) => ({
    ...described,
    method: method.toUpperCase(),
    path,
  })),
);

export const apiPages: readonly ApiPage[] = apiDocument.tags.flatMap(({ name, description }) => {
  const sections = members.flatMap((member) => {
    const operation = findOperation(member.operationId);
    return operation && member.tags.includes(name) ? [section(member, operation)] : [];
  });
  const markdown = [`# API: ${name.replaceAll("-", " ")}`, description, ...sections].join("\n\n");
  return sections.length === 0 ? [] : [{ resource: name, markdown }];
});

function findOperation(name: string): Operation | undefined {
  return Object.entries(operations).find(([key]) => key === name)?.[1];
}

function section(member: Member, operation: Operation): string {
  const { operationId, method, path, summary, description, requestBody } = member;
  const tools = Object.keys(toolMappingsOf(operationId, operation)).map(code).join(", ");
  // The parameters that operations share are references: the guide to the API describes them.
  const parameters = (member.parameters ?? []).filter(
    (parameter): parameter is Parameter => "name" in parameter,
  );
  const body = requestBody?.content["application/json"]?.schema;
  const parts = [
    `## ${summary}`,
    code(`${method} ${path}`),
    tools === "" ? description : `${description} MCP: ${tools}.`,
    fieldTable("Path and query", parameters.flatMap(parameterRows)),
    body ? fieldTable("Body", fieldRows(body, { marksRequired: true })) : "",
    `\`\`\`sh\n${toCurl({ ...member, parameters })}\n\`\`\``,
    ...describeAnswer(member),
  ];
  return parts.filter((part) => part !== "").join("\n\n");
}

function parameterRows({ name, required, description = "", schema }: Parameter) {
  return fieldRows(
    { properties: { [name]: { ...schema, description } }, required: required ? [name] : [] },
    { marksRequired: true },
  );
}

function describeAnswer({ responses }: Member): readonly string[] {
  const [status = "", answer] = Object.entries(responses).find(([key]) => key.startsWith("2")) ?? [];
  const content = answer?.content?.["application/json"];
  if (!content) {
    return [`The answer is ${status} without a body in JSON.`];
  }
  const { data } = resolveSchema(content.schema).properties ?? {};
  const title = `Answer, ${status}: \`data\``;
  return [
    data ? fieldTable(title, fieldRows(data, { marksRequired: false })) : "",
    content.example === undefined ? "" : json(content.example),
  ];
}

function fieldTable(title: string, rows: readonly (readonly string[])[]): string {
  const head = ["Field", "Type", "Meaning"];
  // Most fields of answers have names that say what they are.
  const columns = rows.some(([, , meaning]) => meaning) ? head : head.slice(0, 2);
  const cells = rows.map((row) => row.slice(0, columns.length));
  return rows.length === 0 ? "" : `**${title}**\n\n${table(columns, cells)}`;
}
