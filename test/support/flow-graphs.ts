/** Random flows that the validation accepts, for comparisons of the rehearsal with real runs. */
import fc from "fast-check";
import type { NewNode } from "./flows.ts";

interface Part {
  readonly node: Pick<NewNode, "node_type" | "action_config">;
  /** What follows on its own edges. */
  readonly branches: readonly (Pick<NewNode, "connection_type" | "connection_value"> & {
    readonly parts: readonly Part[];
  })[];
}

const tag = fc.constantFrom("red", "blue");
const text = fc.constantFrom(
  'Hello {{contact.name | default: "you"}}',
  "City {{contact.metadata.city}}, age {{vars.age}}",
  "You wrote {{message.text}}",
  // Blank without a value: then it can't be sent.
  "{{vars.age}}",
);

const leaf = fc
  .oneof(
    text.map((one) => ({ node_type: "send_message", action_config: { text: one } })),
    tag.map((one) => ({ node_type: "add_tag", action_config: { tag: one } })),
    tag.map((one) => ({ node_type: "remove_tag", action_config: { tag: one, on: "conversation" } })),
    text.map((value) => ({ node_type: "set_attribute", action_config: { name: "city", value } })),
    text.map((one) => ({ node_type: "add_note", action_config: { text: one } })),
    fc.constantFrom("pending", "closed", "open").map((status) => ({
      node_type: "set_status",
      action_config: { status },
    })),
    fc
      .constantFrom("30s", "3h", "2d")
      .map((duration) => ({ node_type: "wait", action_config: { duration } })),
    fc.constant({ node_type: "wait", action_config: { until: "09:00" } }),
    fc.constant({ node_type: "unassign", action_config: {} }),
    fc.constant({ node_type: "end", action_config: {} }),
  )
  .map((node): Part => ({ node: node as Part["node"], branches: [] }));

const otherwise: Part = {
  node: { node_type: "send_message", action_config: { text: "Otherwise" } },
  branches: [],
};

const queries = fc.constantFrom(
  { attribute: "tags", operator: "has_any", value: ["red"] },
  { attribute: "conversation.status", operator: "eq", value: "open" },
  { attribute: "vars.age", operator: "gt", value: 10 },
  { attribute: "metadata.city", operator: "exists" },
  { attribute: "message.text", operator: "contains", value: "y" },
);

const { parts } = fc.letrec<{ parts: Part[]; part: Part }>((tie) => ({
  parts: fc.array(tie("part"), { maxLength: 3, depthIdentifier: "part" }),
  part: fc.oneof(
    { depthSize: "small", depthIdentifier: "part" },
    leaf,
    fc.tuple(queries, tie("parts"), tie("parts")).map(([query, yes, no]): Part => {
      return {
        node: { node_type: "condition", action_config: { query } },
        branches: [
          { connection_type: "condition_true", parts: yes },
          // A condition needs a branch for both results.
          { connection_type: "default", parts: [otherwise, ...no] },
        ],
      };
    }),
    fc.tuple(fc.boolean(), tie("parts"), tie("parts")).map(([asks, late, yes]): Part => {
      const ask = { text: "How old?", save_as: "age", validate: "number", retries: 1, timeout: "4h" };
      return {
        node: asks
          ? { node_type: "ask", action_config: ask }
          : { node_type: "wait_for_reply", action_config: { timeout: "1h" } },
        branches: [
          { connection_type: "timeout", parts: late },
          { connection_type: "keyword", connection_value: "yes", parts: yes },
        ],
      };
    }),
  ),
}));

/** A graph that begins with an ask which saves the variable that the texts name. */
export const randomNodes = parts.map((drawn): NewNode[] => {
  const nodes: NewNode[] = [];
  const add = (part: Part, place: Partial<NewNode>): string => {
    const id = `n${nodes.length}`;
    nodes.push({ id, ...part.node, ...place });
    for (const { parts: below, ...edge } of part.branches) {
      addAll(below, id, edge);
    }
    return id;
  };
  const addAll = (all: readonly Part[], parent: string, edge: Partial<NewNode>): void => {
    let place: Partial<NewNode> = { ...edge, parent_node_id: parent };
    for (const part of all) {
      const id = add(part, place);
      place = { parent_node_id: id };
      if (part.node.node_type === "end") {
        return;
      }
    }
  };
  const ask = { text: "Age?", save_as: "age", validate: "number", retries: 0 };
  const root = add({ node: { node_type: "ask", action_config: ask }, branches: [] }, {});
  addAll(drawn, root, {});
  return nodes;
});

export const randomScript: fc.Arbitrary<{ text?: string; button?: string; after?: string }[]> = fc.array(
  fc.record(
    {
      text: fc.constantFrom("yes", "42", "7", "why not"),
      after: fc.constantFrom("10s", "2h", "1d"),
    },
    { requiredKeys: ["text"] },
  ),
  { maxLength: 6 },
);
