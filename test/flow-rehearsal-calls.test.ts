/** Rehearsals of flows that call HTTP endpoints. */
import { expect, test } from "vitest";
import type { InputOf } from "../tools/contract/index.ts";
import { flows } from "../tools/flows/index.ts";
import { useTestApp } from "./support/app.ts";
import { say } from "./support/flows.ts";

const app = useTestApp();
const rehearse = async (input: InputOf<typeof flows.rehearse_flow>) =>
  (await app.call(flows.rehearse_flow, input)).data;

test("a call gets the scripted response, and nothing is called", async () => {
  const nodes = [
    {
      id: "order",
      node_type: "http_request" as const,
      action_config: { url: "https://shop.example/orders/{{message.text}}", save_as: "order" },
    },
    { ...say("It is {{vars.order.body.state}}.", "state"), parent_node_id: "order" },
    { ...say("Not found", "error"), parent_node_id: "order", connection_type: "error" as const },
  ];
  const responses = { order: { status: 200, body: { state: "packed" } } };
  const found = await rehearse({ nodes, message: "42", responses });
  expect(found.messages.at(-1)).toMatchObject({ from: "flow", text: "It is packed." });
  expect(found.path[0]).toMatchObject({
    did: ["GET https://shop.example/orders/42"],
    wait: { for: "response", until: null, ended_by: "response" },
  });
  const missing = await rehearse({ nodes, message: "42", responses: { order: { status: 404 } } });
  expect(missing.path[1]).toMatchObject({ error: "http_error_status", next: ["error"] });
  expect(missing.variables).toEqual({ order: { status: 404, body: null } });
  const slow = await rehearse({ nodes, message: "42", responses: { order: { error: "http_timeout" } } });
  expect(slow.path[1]).toMatchObject({ error: "http_timeout", next: ["error"] });
  expect((await rehearse({ nodes, message: "42" })).status).toBe("completed");
});
