/** A customer is answered by a flow: keyword, question with validation, branch, tag and assignment. */
import { expect, test } from "vitest";
import { contacts } from "../../tools/contacts.ts";
import { conversations } from "../../tools/conversations.ts";
import { flows } from "../../tools/flows/index.ts";
import { messages } from "../../tools/messages/index.ts";
import { useTestApp } from "../support/app.ts";
import { createFlowHelpers, textsOf } from "../support/flows.ts";
import { openPhone } from "../support/simulator.ts";
import { createTeamWithMembers } from "../support/teams.ts";

const app = useTestApp();
const { runsOf } = createFlowHelpers(app);

test("a customer who asks for an offer is asked for the amount, tagged, and assigned by it", async () => {
  const large = await createTeamWithMembers(app, { name: "Large" }, { Ada: {} });
  const small = await createTeamWithMembers(app, { name: "Small" }, { Bea: {} });
  const ask = { text: "How many do you need?", save_as: "amount", validate: { type: "number", min: 1 } };
  const isLarge = { attribute: "vars.amount", operator: "gte", value: 100 };
  const { data: flow } = await app.call(flows.create_flow, {
    name: "Offers",
    trigger_type: "keyword",
    trigger_keyword: "offer, price",
    end_action_type: "none",
    nodes: [
      { id: "ask", node_type: "ask", action_config: ask },
      { id: "large", node_type: "condition", action_config: { query: isLarge }, parent_node_id: "ask" },
      {
        id: "tag",
        node_type: "add_tag",
        parent_node_id: "large",
        connection_type: "condition_true",
        action_config: { tag: "large" },
      },
      { id: "ada", node_type: "assign", action_config: { team_id: large.id }, parent_node_id: "tag" },
      {
        id: "bea",
        node_type: "assign",
        parent_node_id: "large",
        connection_type: "condition_false",
        action_config: { team_id: small.id },
      },
      {
        id: "thank",
        node_type: "send_message",
        parent_node_id: "ask",
        sort_order: 1,
        action_config: { text: "Thank you, {{contact.name}}: {{vars.amount}} it is." },
      },
    ],
  });

  const serve = async (number: string, amount: string) => {
    const phone = openPhone(app, number);
    const { conversation_id } = await phone.write("What is your PRICE?", { name: "Grace" });
    await app.advanceTime(1_000);
    await phone.write("a few");
    await app.advanceTime(1_000);
    await phone.write(amount);
    await app.advanceTime(1_000);
    const { data } = await app.call(conversations.get_conversation, { id: conversation_id });
    const contact = (await app.call(contacts.get_contact, { id: data.contact_id })).data;
    return {
      texts: textsOf(await phone.listMessages()),
      assigned_to: data.assigned_to,
      contact,
      conversation_id,
    };
  };
  const question = "How many do you need?";
  const first = await serve("+14155550231", "250");
  expect(first).toMatchObject({
    texts: [question, question, "Thank you, Grace: 250 it is."],
    assigned_to: large.users.Ada,
    contact: { tags: ["large"] },
  });
  const second = await serve("+14155550232", "3");
  expect(second).toMatchObject({ assigned_to: small.users.Bea, contact: { tags: [] } });

  const [run] = await runsOf(first.conversation_id);
  expect(run?.path.map(({ node_id, outcome, next }) => [node_id, outcome, next])).toEqual([
    ["ask", "wait", []],
    ["ask", "invalid", []],
    ["ask", "reply", ["large", "thank"]],
    ["large", "next", ["tag"]],
    ["tag", "next", ["ada"]],
    ["ada", "next", []],
    ["thank", "next", []],
  ]);
  const { data: sent } = await app.call(messages.list_messages, { conversation_id: first.conversation_id });
  const senders = sent.flatMap(({ direction, sent_by }) => (direction === "outbound" ? [sent_by] : []));
  const sender = { type: "flow", id: flow.id, name: "Offers" };
  expect(senders).toEqual(["thank", "ask", "ask"].map((node_id) => ({ ...sender, node_id })));
});
