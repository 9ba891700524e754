/** A customer asks for an order: question, wait, branch, a look-up at an endpoint, tag and assignment. */
import { expect, test } from "vitest";
import { contacts } from "../../tools/contacts.ts";
import { conversations } from "../../tools/conversations.ts";
import { flows } from "../../tools/flows/index.ts";
import { useTestApp } from "../support/app.ts";
import { localSources } from "../support/flow-calls.ts";
import { createFlowHelpers, type NewNode, textsOf } from "../support/flows.ts";
import { type ScriptedResponse, startUpstream } from "../support/scripted-service.ts";
import { openPhone } from "../support/simulator.ts";
import { createTeamWithMembers } from "../support/teams.ts";

const app = useTestApp({ env: localSources });
const { runsOf } = createFlowHelpers(app);

test("an order is looked up; without it, the conversation goes to the team that helps", async () => {
  const sales = await createTeamWithMembers(app, { name: "Sales" }, { Ada: {} });
  const help = await createTeamWithMembers(app, { name: "Help" }, { Bea: {} });
  const answers: Record<string, ScriptedResponse> = {
    "/orders/1001": { body: { state: "sent", items: [{ name: "Tea" }] } },
    "/orders/1002": "hang",
    "/orders/1003": { status: 403, body: { reason: "not yours" } },
  };
  await using shop = await startUpstream(({ path }) => answers[path] ?? { status: 404 });

  const ask = { text: "Which order?", save_as: "number", validate: { type: "number", min: 1 } };
  const isOrder = { attribute: "vars.number", operator: "gte", value: 1000 };
  const request = {
    url: `${shop.url}/orders/{{vars.number}}`,
    timeout: "1s",
    save_as: "order",
    secret_headers: { Authorization: "Bearer shop" },
  };
  const on = (
    parent_node_id: string,
    connection_type: NewNode["connection_type"],
    node: Pick<NewNode, "id" | "node_type" | "action_config">,
  ): NewNode => ({ ...node, parent_node_id, connection_type });
  await app.call(flows.create_flow, {
    name: "Orders",
    trigger_type: "keyword",
    trigger_keyword: "order",
    end_action_type: "none",
    nodes: [
      { id: "ask", node_type: "ask", action_config: ask },
      on("ask", "always", { id: "wait", node_type: "wait", action_config: { duration: "1m" } }),
      on("wait", "always", { id: "if", node_type: "condition", action_config: { query: isOrder } }),
      on("if", "condition_false", {
        id: "short",
        node_type: "send_message",
        action_config: { text: "An order has four digits." },
      }),
      on("if", "condition_true", { id: "call", node_type: "http_request", action_config: request }),
      on("call", "always", {
        id: "say",
        node_type: "send_message",
        action_config: { text: "{{vars.order.body.items.0.name}}: {{vars.order.body.state}}" },
      }),
      on("say", "always", { id: "tag", node_type: "add_tag", action_config: { tag: "served" } }),
      on("tag", "always", { id: "sales", node_type: "assign", action_config: { team_id: sales.id } }),
      on("call", "error", { id: "help", node_type: "assign", action_config: { team_id: help.id } }),
    ],
  });

  let count = 0;
  const serve = async (...replies: string[]) => {
    count += 1;
    const phone = openPhone(app, `+1415555027${count}`);
    const { conversation_id } = await phone.write("Where is my ORDER?");
    await app.advanceTime(1_000);
    for (const reply of replies) {
      await phone.write(reply);
      await app.advanceTime(1_000);
    }
    await app.advanceTime(60_000);
    const { data } = await app.call(conversations.get_conversation, { id: conversation_id });
    const contact = (await app.call(contacts.get_contact, { id: data.contact_id })).data;
    const [run] = await runsOf(conversation_id);
    const { assigned_to } = data;
    return { texts: textsOf(await phone.listMessages()), assigned_to, tags: contact.tags, run };
  };
  const served = await serve("the red one", "1001");
  expect(served).toMatchObject({
    texts: ["Which order?", "Which order?", "Tea: sent"],
    tags: ["served"],
    assigned_to: sales.users.Ada,
    run: { status: "completed" },
  });
  expect(served.run?.path.map(({ node_id, outcome }) => `${node_id} ${outcome}`)).toEqual([
    "ask wait",
    "ask invalid",
    "ask reply",
    "wait wait",
    "wait next",
    "if next",
    "call call",
    "call next",
    "say next",
    "tag next",
    "sales next",
  ]);
  const errorOf = ({ run }: typeof served) => run?.path.find(({ error }) => error !== null)?.error;
  const late = await serve("1002");
  const refused = await serve("1003");
  for (const failed of [late, refused]) {
    expect(failed).toMatchObject({ texts: ["Which order?"], tags: [], assigned_to: help.users.Bea });
  }
  expect([errorOf(late), errorOf(refused)]).toEqual(["http_timeout", "http_error_status"]);
  expect(refused.run?.variables.order).toEqual({ status: 403, body: { reason: "not yours" } });
  expect((await serve("12")).texts).toEqual(["Which order?", "An order has four digits."]);
  expect(shop.requests.map(({ path, headers }) => [path, headers.authorization])).toEqual(
    ["1001", "1002", "1003"].map((number) => [`/orders/${number}`, "Bearer shop"]),
  );
});
