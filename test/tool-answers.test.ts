/** What an assistant gets of an answer: its fields without those that are null, and any JSON unchanged. */
import { expect, test } from "vitest";
import { contacts } from "../tools/contacts.ts";
import { openPaths } from "../tools/contract/index.ts";
import { conversations } from "../tools/conversations.ts";
import { catalogue } from "../tools/index.ts";
import { messages } from "../tools/messages/index.ts";
import { ownerKey, useTestApp } from "./support/app.ts";
import { connectAssistant } from "./support/assistant.ts";
import { openPhone } from "./support/simulator.ts";

const app = useTestApp();

test("an assistant gets the conversations and their context without null fields, REST with them", async () => {
  const { conversation_id: id } = await openPhone(app, "+14155550701").write("Hello");
  const rest = await app.call(conversations.list_conversations, {});
  expect(rest.data[0]).toMatchObject({ assigned_to: null, last_note: null, tags: [] });
  const { data: context } = await app.call(messages.get_conversation_context, { id });
  expect(context).toMatchObject({ assignment: null, messages: [{ media: null }] });

  await using assistant = await connectAssistant(app, ownerKey);
  expect(await assistant.call("list_conversations", {})).toEqual(withoutNulls(rest));
  const { cursor: _, ...shown } = (await assistant.call("get_conversation_context", { id })).data;
  expect(withoutNulls(context)).toMatchObject(shown);
  expect(JSON.stringify(shown)).not.toContain(":null");
});

test("a null within a contact's attributes is a value, and stays", async () => {
  const metadata = { company: null, list: [null, { inner: null }] };
  const { data } = await app.call(contacts.create_contact, { phone_number: "+14155550702", metadata });
  await using assistant = await connectAssistant(app, ownerKey);
  const answer = await assistant.call("get_contact", { id: data.id });
  expect(answer.data.metadata).toEqual(metadata);
  expect(answer.data).not.toHaveProperty("blocked_at");
});

test("a truncated answer without pages can be read on after its last item", async () => {
  const writer = openPhone(app, "+14155550703");
  const { message_id: first, conversation_id } = await writer.write("before");
  const count = 25;
  for (let number = 0; number < count; number += 1) {
    await writer.write(`message ${number} ${"a".repeat(4_000)}`);
  }
  await using assistant = await connectAssistant(app, ownerKey);
  const texts: unknown[] = [];
  let after: string | undefined = first;
  while (after !== undefined) {
    const input: Record<string, unknown> = { conversation_id, after, timeout_seconds: 0 };
    const answer = await assistant.call("wait_for_message", input);
    const { data, left_out } = answer as typeof answer & { left_out?: { next: string } };
    texts.push(...data.map(({ text }) => text?.body.split(" a")[0]));
    const last = data.at(-1)?.id;
    expect(left_out?.next).toBe(
      left_out && `The answer was too large: repeat the call with after=${last} for the rest.`,
    );
    after = left_out && last;
  }
  expect(texts).toEqual(Array.from({ length: count }, (_, number) => `message ${number}`));
});

test("the fields that hold any JSON are found at every depth of a schema", () => {
  expect(openPaths(catalogue.get_conversation_context.output)).toEqual([
    "data.contact.metadata",
    "data.messages[].interactive",
    "data.messages[].form.answers",
  ]);
  expect(openPaths(catalogue.get_flow.output)).toEqual(["data.nodes[].action_config"]);
});

function withoutNulls(value: object): unknown {
  return JSON.parse(JSON.stringify(value), (_, member) => (member === null ? undefined : member));
}
