/** docs/reference/operations.md: every implemented operation, by resource. */
import { operationsOf, operatorModules } from "../../src/platform/index.ts";
import {
  type Credential,
  describeRule,
  documentedPaths,
  firstSentence,
  type Operation,
  toolMappingsOf,
} from "../../tools/contract/index.ts";
import { resources } from "../../tools/index.ts";
import { code, type Page, table } from "./markdown.ts";

const built = operationsOf(undefined, true);

export function operationsPage(): Page {
  const operatorContracts = Object.entries(operatorModules).map(
    ([name, { contract }]) => [name, contract] as const,
  );
  const sections = [...Object.entries(resources), ...operatorContracts].map(([resource, contract]) =>
    section(resource, contract),
  );
  const body = `# Operations

Every operation that is built, by resource: its REST route, the scope that it needs, and its MCP tools. \`GET /v1/openapi.json\` of a running service has the input and output schemas.

- **Lean** and **core** tools are listed to an assistant by default, **lean** ones alone with \`TIDINGS_TOOL_MODE=lean\`. **Extended** tools are reached through the [gateways](../assistants.md#which-tools-are-listed), or listed with \`TIDINGS_TOOL_MODE=all\`.
- Operations without a tool are for REST only.
- The operations of [operator](#operator) and [prices](#prices) need \`TIDINGS_OPERATOR_KEY\`; they are not in the OpenAPI document.
- A second path is the same operation under another address, with its own scope where two are listed.

${sections.join("\n\n")}`;
  return { source: "tools/", body };
}

function section(resource: string, contract: Readonly<Record<string, Operation>>): string {
  const rows = Object.entries(contract)
    .filter(([name]) => Object.hasOwn(built, name))
    .map(([name, operation]) => row(name, operation));
  return `## ${resource}\n\n${table(["Method", "Path", "Scope", "Tool", "Tier", "What it does"], rows)}`;
}

function row(name: string, operation: Operation): string[] {
  const mappings = Object.entries(toolMappingsOf(name, operation));
  const tiers = mappings.map(([, { tier = operation.tier }]) => tier);
  const needs = documentedPaths(operation).map(({ credential, scope }) =>
    describeNeed(credential, scope === undefined ? operation.scope : scope),
  );
  return [
    operation.method,
    documentedPaths(operation)
      .map(({ path }) => code(path))
      .join("<br>"),
    [...new Set(needs)].join("<br>"),
    mappings.map(([tool]) => code(tool)).join("<br>"),
    (new Set(tiers).size === 1 ? tiers.slice(0, 1) : tiers).join("<br>"),
    firstSentence(operation.description),
  ];
}

const withoutScope: Readonly<Record<Credential, string>> = {
  any: "any credential",
  bearer: "any signed-in user",
  person: "any signed-in user",
  operator: "the operator's key",
  none: "no credential",
};

function describeNeed(credential: Credential, scope: Operation["scope"]): string {
  if (scope === null) {
    return withoutScope[credential];
  }
  const rule = describeRule(scope).replace(/[a-z]+:[a-z]+/g, (name) => code(name));
  return credential === "person" ? `${rule}, signed in` : rule;
}
