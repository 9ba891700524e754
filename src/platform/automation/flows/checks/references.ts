/** Checks that the things that a flow refers to exist in its organization. */
import { type RawBuilder, sql } from "kysely";
import type { Queries } from "../../../../database/database.ts";
import { rowsOf } from "../../../../database/query/index.ts";
import type { StoredEndActionConfig } from "../../../../database/schema/index.ts";
import type { Graph, Problem } from "../graph/index.ts";
import { handlerOf, type Reference, targetsOf } from "../nodes/index.ts";
import { configField, readNodeConfig } from "./validate.ts";

/** What a flow can refer to. */
interface Thing {
  readonly table: RawBuilder<unknown>;
  /** The tool that lists these things. */
  readonly list: string;
}

const things: Readonly<Record<Reference["thing"], Thing>> = {
  team: { table: sql`teams`, list: "list_teams" },
  user: { table: sql`users`, list: "list_users" },
  policy: { table: sql`routing_policies`, list: "list_routing_policies" },
  flow: { table: sql`flows`, list: "list_flows" },
  template: { table: sql`templates`, list: "list_templates" },
};

interface ReferringFlow {
  readonly graph: Graph;
  readonly end_action_config: StoredEndActionConfig;
}

/** What the nodes and the end action refer to, with the place of each reference. */
export function referencesOf({ graph, end_action_config }: ReferringFlow): readonly Reference[] {
  return [
    ...graph.nodes.flatMap((node) => {
      const { config } = readNodeConfig(node);
      const found = config === undefined ? [] : (handlerOf(node.node_type).references?.(config) ?? []);
      return found.map((reference) => ({ ...reference, field: `${configField(node)}.${reference.field}` }));
    }),
    ...targetsOf(end_action_config).map((one) => ({ ...one, field: `end_action_config.${one.field}` })),
  ];
}

export async function checkReferences(
  db: Queries,
  organization: string,
  referring: ReferringFlow,
): Promise<readonly Problem[]> {
  const references = referencesOf(referring);
  const problems: Problem[] = [];
  for (const [thing, { table, list }] of Object.entries(things)) {
    const wanted = references.filter((reference) => reference.thing === thing);
    const known = await findIds(db, organization, { table, ids: wanted.map(({ id }) => id) });
    problems.push(
      ...wanted
        .filter(({ id }) => !known.has(id))
        .map(({ field, id }) => ({
          field,
          code: `unknown_${thing}`,
          message: `There is no ${thing} with the id ${id}.`,
          fix: `Find the id with ${list}.`,
        })),
    );
  }
  return problems;
}

async function findIds(
  db: Queries,
  organization: string,
  { table, ids }: { readonly table: RawBuilder<unknown>; readonly ids: readonly string[] },
): Promise<ReadonlySet<string>> {
  if (ids.length === 0) {
    return new Set();
  }
  const { rows } = await rowsOf({ id: "text" })`
    select id from ${table} where organization_id = ${organization} and id = any(${[...new Set(ids)]}::text[])
  `.execute(db);
  return new Set(rows.map(({ id }) => id));
}
