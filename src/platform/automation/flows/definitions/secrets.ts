/**
 * The values of secret headers, sealed in a table of their own, for each node of each version. The graph has
 * only the names of the headers, with null in place of a value, so no reader of a graph can show a value.
 */

import { ofOrganization } from "../../../../database/query/index.ts";
import type { FlowNode, SealedText } from "../../../../database/schema/index.ts";
import { freshId, type Transaction, type WriteContext } from "../../../foundation/kernel/index.ts";
import { type SealedColumn, seal, unseal } from "../../../foundation/sealing/index.ts";
import { configField, readNodeConfig } from "../checks/validate.ts";
import type { Graph, GraphNode, Problem } from "../graph/index.ts";
import { handlerOf } from "../nodes/index.ts";
import type { FlowRow, FlowWithVersion, VersionRow } from "./find.ts";

/** If a secret is lost, calls that need it fail until the flow is saved with the value again. */
export const sealedFlowSecrets: readonly SealedColumn[] = [
  { table: "flow_secrets", column: "value", key: ["organization_id", "id"], whenLost: "delete" },
];

export interface NodeSecret {
  readonly node_id: string;
  /** In lower case. */
  readonly header: string;
  readonly value: SealedText;
}

type VersionKey = Pick<VersionRow, "organization_id" | "flow_id" | "version">;

/**
 * Seals the values of a request. Null keeps the value of the same header, node and flow in the version
 * before, but only if the scheme, host and port are the same, so that a secret is never sent elsewhere
 * unnoticed.
 */
export async function resolveSecrets(
  { tx, world }: Pick<WriteContext, "tx" | "world">,
  graph: Graph,
  before: FlowWithVersion | undefined,
): Promise<{ readonly secrets: readonly NodeSecret[]; readonly problems: readonly Problem[] }> {
  const stored = before ? await readSecrets(tx, { ...before, flow_id: before.id }) : [];
  const secrets: NodeSecret[] = [];
  const problems: Problem[] = [];
  for (const { node, name, value } of graph.nodes.flatMap(secretsOf)) {
    const header = name.toLowerCase();
    const kept = stored.find((one) => one.node_id === node.id && one.header === header);
    const isMoved = kept !== undefined && originOf(node) !== originOf(before?.nodes.find(hasId(node.id)));
    if (value !== null) {
      secrets.push({ node_id: node.id, header, value: seal(world, value) });
    } else if (kept && !isMoved) {
      secrets.push(kept);
    } else {
      problems.push(missingValue(node, name, isMoved));
    }
  }
  return { secrets, problems };
}

/** A node in the form in which the graph stores it. */
export function withoutSecrets(node: FlowNode): FlowNode {
  const { secret_headers } = node.action_config;
  if (typeof secret_headers !== "object" || secret_headers === null) {
    return node;
  }
  const names = Object.fromEntries(Object.keys(secret_headers).map((name) => [name, null]));
  return { ...node, action_config: { ...node.action_config, secret_headers: names } };
}

export async function insertSecrets(
  { tx, now }: Pick<WriteContext, "tx" | "now">,
  { organization_id, id: flow_id, version }: FlowRow,
  secrets: readonly NodeSecret[],
): Promise<void> {
  if (secrets.length > 0) {
    const rows = secrets.map(({ node_id, header, value }) => ({
      organization_id,
      id: freshId({ now }, "fsec"),
      flow_id,
      version,
      node_id,
      header,
      value,
    }));
    await tx.insertInto("flow_secrets").values(rows).execute();
  }
}

/** The values of a node's secret headers, keyed by name in lower case. */
export async function unsealSecrets(
  tx: Transaction,
  world: WriteContext["world"],
  { node_id, ...version }: VersionKey & { readonly node_id: string },
): Promise<ReadonlyMap<string, string>> {
  const stored = await readSecrets(tx, version);
  const ofNode = stored.filter((secret) => secret.node_id === node_id);
  return new Map(ofNode.map(({ header, value }) => [header, unseal(world, value)]));
}

async function readSecrets(
  tx: Transaction,
  { organization_id, flow_id, version }: VersionKey,
): Promise<NodeSecret[]> {
  return ofOrganization(tx, organization_id)
    .selectFrom("flow_secrets")
    .select(["node_id", "header", "value"])
    .where("flow_id", "=", flow_id)
    .where("version", "=", version)
    .execute();
}

function secretsOf(node: GraphNode) {
  const { config } = readNodeConfig(node);
  const secrets = config === undefined ? {} : (handlerOf(node.node_type).secrets?.(config) ?? {});
  return Object.entries(secrets).map(([name, value]) => ({ node, name, value }));
}

const hasId =
  (id: string) =>
  (node: FlowNode): boolean =>
    node.id === id;

/** The scheme, host and port of a node's URL, which have no placeholders. */
function originOf(node: FlowNode | undefined): string {
  const { url } = node?.action_config ?? {};
  const [origin = ""] = (typeof url === "string" && /^[^/]+:\/\/[^/?#]+/.exec(url)) || [];
  return origin.toLowerCase();
}

function missingValue(node: GraphNode, name: string, isMoved: boolean): Problem {
  return {
    field: `${configField(node)}.secret_headers.${name}`,
    code: "secret_missing",
    message: isMoved
      ? `The value of ${name} is kept for the address that the node had before.`
      : `No value of ${name} is stored for this node.`,
    fix: "Send the value. Null keeps the value that the same node of this flow has, for the same host.",
  };
}
