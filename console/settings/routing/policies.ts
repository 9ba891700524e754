/** Policies as the settings read them, with what their descriptions name. */
import { type Answer, call } from "../../service/call.ts";
import { listAllTeams, listEverybody } from "../../service/list-all.ts";
import type { Person } from "../people/person.ts";
import type { Team } from "../teams/team-fields.tsx";

export type RoutingPolicy = Answer<"list_routing_policies">["data"][number];
type NamedInbox = Answer<"list_inboxes">["data"][number];

/** What policies refer to by id. */
export interface NamedRecords {
  readonly teams: readonly Team[];
  readonly people: readonly Person[];
  readonly inboxes: readonly NamedInbox[];
}

export async function readNamed(): Promise<NamedRecords> {
  const [teams, people, inboxes] = await Promise.all([
    listAllTeams(),
    listEverybody(),
    call("list_inboxes", {}),
  ]);
  return { teams, people, inboxes: inboxes.data };
}

/** In the order in which they are tried. */
export async function listPolicies(): Promise<readonly RoutingPolicy[]> {
  const all: RoutingPolicy[] = [];
  for (let page = 1; ; page += 1) {
    const { data, meta } = await call("list_routing_policies", { page, per_page: 100 });
    all.push(...data);
    if (data.length === 0 || all.length >= meta.total) {
      return all;
    }
  }
}

/** Between priorities there is room for a policy that the API adds. */
const step = 10;

/** Gives the policies this order, from the first to the last. */
export async function reorder(policies: readonly RoutingPolicy[]): Promise<void> {
  for (const [index, { id, priority }] of policies.entries()) {
    const wanted = (policies.length - index) * step;
    if (priority !== wanted) {
      await call("update_routing_policy", { id, priority: wanted });
    }
  }
}
