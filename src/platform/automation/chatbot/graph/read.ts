/**
 * Reads a graph as the caller sent it, with other names for its fields, into its normal form. Checks each
 * part by itself.
 */
import { z } from "zod";
import { listNames, type Problem, parsePart, suggest } from "../../../foundation/problems.ts";
import { comparisons, shorthands, type TurnCondition } from "./conditions.ts";
import type { ChatbotEdge, ChatbotNode } from "./graph.ts";
import { chatbotNodeTypes, typeAliases } from "./node-types.ts";

/** The place of the graph in the input. */
export const graphField = "graph_definition";

export const maxChatbotNodes = 50;
const maxEdges = 200;

const nodeId = z.string().min(1).max(64);

const RawNode = z.strictObject({
  id: nodeId,
  type: z.string(),
  name: z.string().trim().min(1).max(255).optional(),
  config: z.record(z.string(), z.unknown()).optional(),
});

const RawEdge = z.strictObject({
  source: nodeId,
  target: nodeId,
  condition: z.union([z.string(), z.record(z.string(), z.unknown()), z.null()]).optional(),
});

const RawGraph = z.strictObject({
  entry_point: nodeId.optional(),
  nodes: z.array(z.record(z.string(), z.unknown())).min(1).max(maxChatbotNodes),
  edges: z.array(z.record(z.string(), z.unknown())).max(maxEdges).default([]),
});

/** Other names for the fields of a graph and of an edge. */
const graphAliases = { entry: "entry_point", start: "entry_point" };
const edgeAliases = { from: "source", to: "target" };

/**
 * The parts that could be read, with their places in the input, and the problems of the parts that could not
 * be read.
 */
export interface ParsedGraph {
  readonly entry_point: string | undefined;
  readonly nodes: readonly { readonly node: ChatbotNode; readonly field: string }[];
  readonly edges: readonly { readonly edge: ChatbotEdge; readonly field: string }[];
  /** The ids of all nodes, including invalid ones. */
  readonly ids: readonly string[];
  readonly problems: readonly Problem[];
}

export function readParts(sent: Readonly<Record<string, unknown>>): ParsedGraph {
  const parsed = parsePart(RawGraph, rename(sent, graphAliases), graphField);
  if ("problems" in parsed) {
    return { entry_point: undefined, nodes: [], edges: [], ids: [], problems: parsed.problems };
  }
  const { entry_point, nodes, edges } = parsed.data;
  const read = nodes.map((node, index) => readNode(node, `${graphField}.nodes[${index}]`));
  const readEdges = edges.map((edge, index) => readEdge(edge, `${graphField}.edges[${index}]`));
  return {
    entry_point,
    nodes: read.flatMap(({ node, field }) => (node ? [{ node, field }] : [])),
    edges: readEdges.flatMap(({ edge, field }) => (edge ? [{ edge, field }] : [])),
    ids: nodes.flatMap(({ id }) => (typeof id === "string" ? [id] : [])),
    problems: [...read, ...readEdges].flatMap(({ problems }) => problems),
  };
}

interface ParsedPart {
  readonly field: string;
  readonly problems: readonly Problem[];
}

function readNode(
  sent: Readonly<Record<string, unknown>>,
  field: string,
): ParsedPart & { node?: ChatbotNode } {
  const parsed = parsePart(RawNode, sent, field);
  if ("problems" in parsed) {
    return { field, problems: parsed.problems.map((one) => naming(one, sent.id)) };
  }
  const { id, type: sentType, name, config = {} } = parsed.data;
  const types = Object.keys(chatbotNodeTypes);
  const type = Object.hasOwn(typeAliases, sentType)
    ? typeAliases[sentType]
    : types.find((one) => one === sentType);
  if (type === undefined) {
    const message = `The node ${id} has the unknown type ${sentType}.${suggest(sentType, types)}`;
    return {
      field,
      problems: [problem(`${field}.type`, message, `Send one of these: ${types.join(", ")}.`)],
    };
  }
  const { config: schema } = chatbotNodeTypes[type as keyof typeof chatbotNodeTypes];
  const parsedConfig = parsePart(schema, config, `${field}.config`);
  if ("problems" in parsedConfig) {
    const takes = Object.keys(schema.shape);
    return { field, problems: parsedConfig.problems.map((one) => naming(one, id, { type, takes })) };
  }
  // The schema of this type parsed the config; TypeScript does not connect the two.
  const node = {
    id,
    type,
    ...(name === undefined ? {} : { name }),
    config: parsedConfig.data,
  } as ChatbotNode;
  return { field, node, problems: [] };
}

function readEdge(
  sent: Readonly<Record<string, unknown>>,
  field: string,
): ParsedPart & { edge?: ChatbotEdge } {
  const parsed = parsePart(RawEdge, rename(sent, edgeAliases), field);
  if ("problems" in parsed) {
    return { field, problems: parsed.problems };
  }
  const { source, target, condition: sentCondition } = parsed.data;
  const condition = readCondition(sentCondition ?? null, `${field}.condition`);
  return "problems" in condition
    ? { field, problems: condition.problems }
    : { field, edge: { source, target, condition: condition.condition }, problems: [] };
}

type ReadCondition = { readonly condition: TurnCondition | null } | { readonly problems: readonly Problem[] };

function readCondition(sent: string | Record<string, unknown> | null, field: string): ReadCondition {
  if (sent === null || typeof sent === "string") {
    const condition = sent === null ? null : Object.hasOwn(shorthands, sent) ? shorthands[sent] : undefined;
    const words = Object.keys(shorthands);
    const message = `There is no condition ${sent}.${suggest(sent ?? "", words)}`;
    const fix = `Send one of these: ${words.join(", ")}; or {"field", "operator", "value"}.`;
    return condition === undefined ? { problems: [problem(field, message, fix)] } : { condition };
  }
  const { field: name = "", operator = "eq", value, ...others } = sent;
  const known = Object.entries(comparisons).find(([one]) => one === name)?.[1];
  if (!known || Object.keys(others).length > 0) {
    const names = Object.keys(comparisons);
    const message = known
      ? `A condition has no ${Object.keys(others).join(", ")}.`
      : `There is no field ${String(name)}.${suggest(String(name), names)}`;
    return {
      problems: [
        problem(`${field}.field`, message, `Send field, one of ${names.join(", ")}, operator and value.`),
      ],
    };
  }
  if (!known.operators.some((one) => one === operator)) {
    const message = `${String(name)} can't be compared by ${String(operator)}.${suggest(String(operator), known.operators)}`;
    const fix = `Send one of these: ${known.operators.join(", ")}.`;
    return { problems: [problem(`${field}.operator`, message, fix)] };
  }
  if (typeof value !== known.type || value === "") {
    const message = `${String(name)} is compared with a ${known.type}.`;
    return { problems: [problem(`${field}.value`, message, `Send a ${known.type} that is not empty.`)] };
  }
  // Each part was compared with the table.
  return { condition: { field: name, operator, value } as TurnCondition };
}

/**
 * Renames aliased fields. If an alias and its field are both sent, both stay, and the alias is reported as
 * unknown.
 */
function rename(sent: Readonly<Record<string, unknown>>, aliases: Readonly<Record<string, string>>) {
  const entries = Object.entries(sent).map(([name, value]) => {
    const first = Object.hasOwn(aliases, name) ? (aliases[name] ?? name) : name;
    return [Object.hasOwn(sent, first) ? name : first, value] as const;
  });
  return Object.fromEntries(entries);
}

/** Adds to a problem the node that has it, and what its type takes. */
function naming(
  one: Problem,
  id: unknown,
  of?: { readonly type: string; readonly takes: readonly string[] },
): Problem {
  const message = typeof id === "string" ? `Node ${id}: ${one.message}` : one.message;
  if (one.code !== "unknown_argument" || !of) {
    return { ...one, message };
  }
  const unknown = one.field.split(".").at(-1) ?? "";
  const fix = `${of.type} takes ${of.takes.length === 0 ? "nothing" : listNames(of.takes)}.`;
  return { ...one, message: `${message}${suggest(unknown, of.takes)}`, fix };
}

export function problem(field: string, message: string, fix: string): Problem {
  return { field, code: "invalid_graph", message, fix };
}
