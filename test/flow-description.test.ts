/** What an assistant reads before it writes a flow, and the warnings that it gets afterwards. */
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { flows, nodes, nodeTypes, triggerEvents } from "../tools/flows/index.ts";
import { routing } from "../tools/routing.ts";
import { teams } from "../tools/teams.ts";
import { useTestApp } from "./support/app.ts";
import { createFlowHelpers, say } from "./support/flows.ts";
import { createUserWithRole } from "./support/users.ts";

const app = useTestApp();
const { create } = createFlowHelpers(app);

describe.each(nodeTypes.map((type) => [type, nodes[type]] as const))("the examples of %s", (_, node) => {
  test("are valid", () => {
    for (const example of node.examples) {
      expect(node.config.safeParse(example).error).toBeUndefined();
    }
  });

  test("have every argument", () => {
    const { properties = {} } = z.toJSONSchema(node.config, { io: "input", unrepresentable: "any" });
    const shown = new Set(node.examples.flatMap((example) => Object.keys(example ?? {})));
    expect(Object.keys(properties).filter((name) => !shown.has(name))).toEqual([]);
  });
});

test("the description has every node type and event", async () => {
  const { data } = await app.call(flows.describe_flow_nodes, {});
  expect(data.nodes.map(({ node_type }) => node_type)).toEqual(nodeTypes);
  expect(Object.keys(data.events)).toEqual(triggerEvents);
});

describe("a saved flow warns about", () => {
  const assign = (action_config: object) => [{ id: "give", node_type: "assign" as const, action_config }];

  test("a team without available members, until it has one", async () => {
    const { data: team } = await app.call(teams.create_team, { name: "Billing" });
    const field = "nodes[0].action_config.team_id";
    const { id, warnings } = await create(assign({ team_id: team.id }), { trigger_keyword: "bill" });
    expect(warnings).toMatchObject([
      { field, code: "team_inactive" },
      { field, code: "team_without_members" },
    ]);
    expect(warnings[1]?.message).toContain("Billing");
    const user = await createUserWithRole(app, "agent");
    await app.call(teams.add_team_member, { id: team.id, user_id: user.id, role: "member" });
    await app.call(teams.update_team, { id: team.id, is_active: true });
    const { data: updated } = await app.call(flows.update_flow, { id, name: "Bills" });
    expect(updated.warnings).toEqual([]);
  });

  test("an assignment and a chatbot that no policy serves", async () => {
    const { warnings } = await create(assign({}), {
      trigger_keyword: "person",
      end_action_type: "assign",
    });
    expect(warnings.map(({ field, code }) => [field, code])).toEqual([
      ["nodes[0].action_config", "no_routing_policy"],
      ["end_action_config", "no_routing_policy"],
    ]);
    const user = await createUserWithRole(app, "agent");
    await app.call(routing.create_routing_policy, {
      name: "All",
      strategy: "round_robin",
      target_type: "user",
      target_id: user.id,
    });
    expect((await create(assign({}), { trigger_keyword: "human" })).warnings).toEqual([]);
  });

  test("a keyword that starts another enabled flow", async () => {
    const other = await create([say("one")], { name: "Other", trigger_keyword: "Hours, opening" });
    const { id, warnings } = await create([say("two")], { trigger_keyword: "times, HOURS" });
    expect(warnings).toMatchObject([{ field: "trigger_keyword", code: "keyword_in_use" }]);
    expect(warnings[0]?.message).toBe("The flow Other is started by hours too.");
    await app.call(flows.toggle_flow, { id: other.id });
    const { data: updated } = await app.call(flows.update_flow, { id, name: "Times" });
    expect(updated.warnings).toEqual([]);
  });
});
