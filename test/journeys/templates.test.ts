/**
 * A new organization begins a conversation over MCP alone: template, rejection, correction,
 * approval, message, answer.
 */
import { expect, test } from "vitest";
import { ownerKey, useTestApp } from "../support/app.ts";
import { connectAssistant } from "../support/assistant.ts";
import { openPhone } from "../support/simulator.ts";
import { setReview } from "../support/templates.ts";

const app = useTestApp();
const customer = "+14155550301";

const review = (settings: object) => setReview(app, settings);

test("from the first template to the answer in the window, in 12 calls without a guess", async () => {
  await using assistant = await connectAssistant(app, ownerKey);
  const { data: inboxes } = await assistant.call("list_inboxes", {});
  const inbox_id = inboxes[0]?.id ?? "";
  await app.fetch(`/v1/inboxes/${inbox_id}`, {
    method: "PUT",
    json: { settings: { service_window: "strict" } },
  });

  const early = await assistant.expectRejection("send_message", {
    to: customer,
    body: "Your order is ready.",
  });
  expect(early).toContain("Send an approved template with send_template_message");

  const { data: draft } = await assistant.call("create_template", {
    name: "order_ready",
    category: "utility",
    template_data: { body: "{{1}}, your order {{2}} is ready at the desk." },
    variables: [
      { name: "customer", component: "BODY", example: "Ann" },
      { name: "order", component: "BODY", example: "A-17" },
    ],
  });
  expect(draft.warnings).toEqual([
    expect.objectContaining({ code: "variable_at_edge", field: "template_data.body" }),
  ]);
  const corrected = { body: "Hello {{1}}, your order {{2}} is ready at the desk." };
  await assistant.call("update_template", { id: draft.id, template_data: corrected });

  await review({ outcome: "reject", reason: "PROMOTIONAL" });
  expect((await assistant.call("submit_template", { id: draft.id })).data.status).toBe("pending");
  await app.advanceTime(1_000);
  const { data: rejected } = await assistant.call("get_template", { id: draft.id });
  expect(rejected).toMatchObject({ status: "rejected", rejection_reason: "PROMOTIONAL" });

  await review({});
  await assistant.call("update_template", {
    id: draft.id,
    template_data: { ...corrected, footer: "The Shop" },
  });
  await assistant.call("submit_template", { id: draft.id });
  await app.advanceTime(1_000);
  const { data: approved } = await assistant.call("list_templates", { status: "approved" });
  expect(approved).toMatchObject([{ name: "order_ready", language: "en" }]);

  const { data: sent } = await assistant.call("send_template_message", {
    to: customer,
    template_name: "order_ready",
    language: "en",
    variables: { customer: "Ann", order: "A-17" },
  });
  await app.advanceTime(1_000);
  const phone = openPhone(app, customer);
  expect(await phone.listMessages()).toMatchObject([
    { template: { body: "Hello Ann, your order A-17 is ready at the desk.", footer: "The Shop" } },
  ]);

  await phone.write("Great, until when?");
  const { data: context } = await assistant.call("get_conversation_context", { id: sent.conversation_id });
  expect(context.messages.map(({ type }: { type: string }) => type)).toEqual(["template", "text"]);
  await assistant.call("send_message", { to: customer, body: "Until 8 this evening." });
  await app.advanceTime(1_000);
  expect((await phone.listMessages()).at(-1)).toMatchObject({ text: { body: "Until 8 this evening." } });
  expect(assistant.calls).toHaveLength(12);
});
