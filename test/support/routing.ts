/** An app for routing tests, with shortcuts for policies, incoming messages and decisions. */
import { afterEach } from "vitest";
import type { InputOf } from "../../tools/contract/index.ts";
import { conversations } from "../../tools/conversations.ts";
import { routing } from "../../tools/routing.ts";
import { useTestApp } from "./app.ts";
import { openPhone } from "./simulator.ts";
import type { CreatedTeam } from "./teams.ts";

type CreateInput = InputOf<typeof routing.create_routing_policy>;
export type PolicyInput = Partial<CreateInput> & Pick<CreateInput, "strategy">;

/** Starts an app for the tests of a file. After each test all policies and teams are deleted. */
export function useRoutingApp() {
  const app = useTestApp();
  let count = 0;

  afterEach(async () => {
    const { queries } = app.server.database;
    await queries.deleteFrom("routing_policies").execute();
    await queries.updateTable("conversations").set({ team_id: null, queued_at: null }).execute();
    await queries.deleteFrom("teams").execute();
  });

  /** A phone number that has not been used yet. */
  const nextNumber = () => `+1415555${1000 + count++}`;

  /** Writes from a number, a new one by default, runs the routing, and returns the conversation's id. */
  async function write(number = nextNumber()): Promise<string> {
    const { conversation_id } = await openPhone(app, number).write("hi");
    await app.runDueJobs();
    return conversation_id;
  }

  async function writeMany(count: number): Promise<string[]> {
    const ids: string[] = [];
    for (let n = 0; n < count; n += 1) {
      ids.push(await write());
    }
    return ids;
  }

  /** Creates a policy whose target is the team; without one the policy has no target. */
  async function createPolicy(team: CreatedTeam | null, policy: PolicyInput) {
    const target = { target_type: "team", ...(team ? { target_id: team.id } : {}) } as const;
    return (await app.call(routing.create_routing_policy, { name: "Policy", ...target, ...policy })).data;
  }

  const get = async (id: string) => (await app.call(conversations.get_conversation, { id })).data;

  /** Counts these conversations by agent name. */
  async function tally(ids: readonly string[], team: CreatedTeam) {
    const names = Object.fromEntries(Object.entries(team.users).map(([name, id]) => [id, name]));
    const counts: Record<string, number> = {};
    for (const id of ids) {
      const name = names[(await get(id)).assigned_to ?? ""] ?? "unassigned";
      counts[name] = (counts[name] ?? 0) + 1;
    }
    return counts;
  }

  return {
    app,
    nextNumber,
    write,
    writeMany,
    createPolicy,
    get,
    tally,
    close: (id: string) => app.call(conversations.update_conversation, { id, status: "closed" }),
    decisionsOf: async (id: string) => (await app.call(routing.list_routing_decisions, { id })).data,
  };
}
