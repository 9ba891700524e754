/**
 * The rules for a graph that is being saved, as a table. Each rule returns its problems, and all problems are
 * reported together.
 *
 * A rule about one type of node is in the `check` of its handler; the allowed contents are in the schema of
 * the type.
 */
import { type ConnectionType, nodes as declarations } from "../../../../../tools/flows/index.ts";
import { pause } from "../../../../time/pauses.ts";
import {
  awaitsButton,
  choicesOf,
  findSendingCycles,
  type Graph,
  type GraphNode,
  listNames,
  maxProblems,
  type Problem,
  parsePart,
  suggest,
} from "../graph/index.ts";
import { handlerOf } from "../nodes/index.ts";
import { readEdgeKeyword, splitKeywords } from "../texts/keywords.ts";
import { checkText, createSavedNames, type SavedNames } from "../texts/placeholders.ts";

/** The most keywords below one node: a reply is compared with all of them at once. */
const maxKeywords = 1_000;

const buttonHint =
  "Children of type button stand below wait_for_reply, or a node whose interactive message has buttons.";

type Rule = (graph: Graph) => readonly Problem[] | Promise<readonly Problem[]>;

/** The problems of a graph: all of them, or at least as many as the error names. */
export async function validateGraph(graph: Graph): Promise<readonly Problem[]> {
  const problems: Problem[] = [];
  for (const rule of Object.values(rules)) {
    await pause();
    problems.push(...(await rule(graph)));
    if (problems.length >= maxProblems) {
      break;
    }
  }
  return problems;
}

const rules = {
  uniqueIds: (graph) =>
    graph.nodes
      .filter(({ id, index }) => graph.nodes.findIndex((other) => other.id === id) < index)
      .map((node) =>
        problem(node, "id", `There is another node ${node.id}.`, "Give each node an id of its own."),
      ),

  oneRoot({ nodes, root }) {
    if (!root) {
      const message = "Every node has a parent, so there is no first node.";
      return [{ field: "nodes", ...wrong(message, "Leave out the parent_node_id of the first node.") }];
    }
    return nodes
      .filter((node) => node.parent_node_id === null && node !== root)
      .map((node) =>
        problem(
          node,
          "parent_node_id",
          `${node.id} has no parent, and neither has ${root.id}: a flow has one first node.`,
          `Send the id of its parent. Known: ${listNames(idsOf(nodes))}.`,
        ),
      );
  },

  knownParents: (graph) =>
    findUnknown(
      graph,
      "parent_node_id",
      graph.nodes.map((node) => ({ node, id: node.parent_node_id })),
    ),

  noCycles: (graph) =>
    graph.nodes
      .filter((node) => isOwnAncestor(graph, node))
      .map((node) =>
        problem(
          node,
          "parent_node_id",
          `${node.id} is its own ancestor.`,
          "Lead back with a goto node instead.",
        ),
      ),

  validConfigs({ nodes }) {
    const problems: Problem[] = [];
    for (const node of nodes) {
      problems.push(...readNodeConfig(node).problems);
      if (problems.length >= maxProblems) {
        return problems;
      }
    }
    return problems;
  },

  fittingEdges: (graph) =>
    graph.nodes.flatMap((node) => {
      const parent = parentOf(graph, node);
      const allowed = parent ? edgesBelow(graph, parent) : [];
      if (!parent || allowed.includes(node.connection_type)) {
        return [];
      }
      const known = allowed.length === 0 ? "no children" : `children of type ${allowed.join(", ")}`;
      const hint = node.connection_type === "button" ? ` ${buttonHint}` : "";
      const message = `A node below ${parent.id} (${parent.node_type}) can't be connected by ${node.connection_type}.`;
      return [problem(node, "connection_type", message, `${parent.id} can have ${known}.${hint}`)];
    }),

  edgeValues: (graph) =>
    graph.nodes.flatMap((node) => edgeRules[node.connection_type]?.(node, parentOf(graph, node)) ?? []),

  fewKeywords: (graph) =>
    graph.nodes
      .filter(({ id }) => countKeywords(graph.childrenOf(id)) > maxKeywords)
      .map((node) =>
        problem(
          node,
          "id",
          `The edges below ${node.id} have more than ${maxKeywords} keywords.`,
          "Use fewer keywords, or one regular expression: regex:^(yes|yeah)$.",
        ),
      ),

  bothConditions: (graph) =>
    graph.nodes
      .filter(({ node_type }) => node_type === "condition")
      .filter(({ id }) => {
        const types = graph.childrenOf(id).map(({ connection_type }) => connection_type);
        const isComplete = types.includes("condition_true") && types.includes("condition_false");
        return !isComplete && !types.includes("default");
      })
      .map((node) =>
        problem(
          node,
          "node_type",
          `The condition ${node.id} does not lead on in both cases.`,
          "Add children of type condition_true and condition_false, or one of type default.",
        ),
      ),

  gotoTargets: (graph) =>
    findUnknown(
      graph,
      "action_config.node_id",
      graph.nodes
        .filter(({ node_type }) => node_type === "goto")
        .map((node) => ({ node, id: node.action_config.node_id })),
    ),

  noSendingCycles: (graph) =>
    findSendingCycles(graph).map((node) =>
      problem(
        node,
        "id",
        `${node.id} sends again and again: the run comes back to it without a wait.`,
        "Put wait, wait_for_reply or ask between, or lead elsewhere.",
      ),
    ),

  nodeChecks: ({ nodes }) =>
    nodes.flatMap((node) => {
      const { config } = readNodeConfig(node);
      return config === undefined ? [] : (handlerOf(node.node_type).check?.(config, configField(node)) ?? []);
    }),

  placeholders(graph) {
    const variables = savedVariables(graph);
    const problems: Problem[] = [];
    for (const node of graph.nodes) {
      const { config } = readNodeConfig(node);
      const texts = config === undefined ? {} : (handlerOf(node.node_type).texts?.(config) ?? {});
      for (const [field, text] of Object.entries(texts)) {
        problems.push(...checkText(text ?? "", `${configField(node)}.${field}`, variables));
        if (problems.length >= maxProblems) {
          return problems;
        }
      }
    }
    return problems;
  },
} satisfies Record<string, Rule>;

/** The rule for the value of each type of edge. */
const edgeRules: {
  readonly [Type in ConnectionType]?: (node: GraphNode, parent: GraphNode | undefined) => Problem[];
} = {
  keyword(node) {
    const { keyword } = readEdgeKeyword(node.connection_value ?? "");
    const isEmpty = keyword.trim() === "" || splitKeywords(keyword).length === 0;
    return isEmpty
      ? [
          problem(
            node,
            "connection_value",
            "A keyword edge needs a keyword.",
            "Send a word, or one with its match: contains:order.",
          ),
        ]
      : [];
  },

  button(node, parent) {
    const ids = parent ? choicesOf(parent).map(({ id }) => id) : [];
    const value = node.connection_value ?? "";
    // Below a wait, another node has the message with the buttons.
    if (value !== "" && (ids.includes(value) || ids.length === 0)) {
      return [];
    }
    const message = `There is no button ${value} above.${suggest(value, ids)}`;
    return [problem(node, "connection_value", message, `Send the id of a button: ${listNames(ids)}.`)];
  },
};

function countKeywords(children: readonly GraphNode[]): number {
  const keywords = children
    .filter(({ connection_type }) => connection_type === "keyword")
    .map(({ connection_value }) => readEdgeKeyword(connection_value ?? ""));
  return keywords.reduce(
    (sum, { match, keyword }) => sum + (match === "regex" ? 1 : keyword.split(",").length),
    0,
  );
}

/** The connection types that children of a node may have. */
function edgesBelow(graph: Graph, node: GraphNode): readonly ConnectionType[] {
  const { edges } = declarations[node.node_type];
  const hasChoices = choicesOf(node).length > 0;
  const isQuestion = node.node_type !== "send_message" || (hasChoices && awaitsButton(graph, node.id));
  if (!isQuestion) {
    return hasChoices ? ["always", "error", "button"] : ["always", "error"];
  }
  return node.node_type === "ask" && !hasChoices ? edges.filter((edge) => edge !== "button") : edges;
}

/** The variables that the nodes save, in the form of placeholders after `vars.`. */
function savedVariables({ nodes }: Graph): SavedNames {
  return createSavedNames(
    nodes.flatMap((node) => {
      const { config } = readNodeConfig(node);
      // If the config has another error, its variable still counts as saved.
      const { save_as } = node.action_config;
      const named = typeof save_as === "string" ? [save_as, `${save_as}.<path>`] : [];
      return config === undefined ? named : (handlerOf(node.node_type).saves?.(config) ?? []);
    }),
  );
}

interface ReadConfig {
  readonly config?: unknown;
  readonly problems: readonly Problem[];
}

/** Cached, because several rules read a config, and describing its problems takes time. */
const configs = new WeakMap<GraphNode, ReadConfig>();

/** The parsed action_config of a node; undefined if it is not valid. */
export function readNodeConfig(node: GraphNode): ReadConfig {
  const read = configs.get(node) ?? parseConfig(node);
  configs.set(node, read);
  return read;
}

function parseConfig(node: GraphNode): ReadConfig {
  const schema = declarations[node.node_type].config;
  const parsed = parsePart(schema, node.action_config, configField(node));
  if (!("problems" in parsed)) {
    return { config: parsed.data, problems: [] };
  }
  return { problems: parsed.problems.map((one) => nameFields(one, node, Object.keys(schema.shape))) };
}

/** Names the fields of a node's action_config if the problem is an unknown field. */
function nameFields(one: Problem, node: GraphNode, names: readonly string[]): Problem {
  const [, unknown] = one.field.split(`${configField(node)}.`);
  if (one.code !== "unknown_argument" || unknown === undefined || unknown.includes(".")) {
    return one;
  }
  const takes = `${node.node_type} takes ${names.length === 0 ? "nothing" : names.join(", ")}.`;
  return { ...one, message: `${one.message}${suggest(unknown, names)}`, fix: `${one.fix} ${takes}` };
}

export function configField(node: GraphNode): string {
  return fieldOf(node, "action_config");
}

function fieldOf({ index }: GraphNode, field: string): string {
  return `nodes[${index}].${field}`;
}

function parentOf(graph: Graph, { parent_node_id }: GraphNode): GraphNode | undefined {
  return parent_node_id === null ? undefined : graph.byId.get(parent_node_id);
}

function isOwnAncestor(graph: Graph, node: GraphNode): boolean {
  const seen = new Set<GraphNode>();
  let current = parentOf(graph, node);
  while (current && !seen.has(current)) {
    if (current.id === node.id) {
      return true;
    }
    seen.add(current);
    current = parentOf(graph, current);
  }
  return false;
}

/** The references to nodes that do not exist. Finding the nearest name for one takes milliseconds. */
async function findUnknown(
  graph: Graph,
  field: string,
  references: readonly { readonly node: GraphNode; readonly id: unknown }[],
): Promise<readonly Problem[]> {
  const problems: Problem[] = [];
  for (const { node, id } of references) {
    if (typeof id === "string" && !graph.byId.has(id) && problems.length < maxProblems) {
      await pause();
      problems.push(unknownNode(graph, node, field, id));
    }
  }
  return problems;
}

function unknownNode({ nodes }: Graph, node: GraphNode, field: string, id: string): Problem {
  const known = idsOf(nodes);
  return problem(
    node,
    field,
    `There is no node ${id}.${suggest(id, known)}`,
    `Send one of these: ${listNames(known)}.`,
  );
}

function idsOf(nodes: readonly GraphNode[]): string[] {
  return nodes.map(({ id }) => id);
}

function problem(node: GraphNode, field: string, message: string, fix: string): Problem {
  return { field: fieldOf(node, field), ...wrong(message, fix) };
}

function wrong(message: string, fix: string) {
  return { code: "invalid_graph", message, fix };
}
