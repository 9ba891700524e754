/** What a person has read and writes to colleagues, and whom they have open in the console. */
import { ownerEmail, ownerPassword, type TestApp } from "../../test/support/app.ts";
import { signIn } from "../../test/support/users.ts";
import { conversations } from "../../tools/conversations.ts";
import { notes } from "../../tools/notes.ts";
import { users } from "../../tools/users.ts";

/** The owner reads a conversation, marks another as unread, and mentions a colleague in a note. */
export async function addPeople(app: TestApp): Promise<void> {
  const { access_token: key } = await signIn(app, ownerEmail, ownerPassword);
  const [read, unread] = (await app.call(conversations.list_conversations, {})).data;
  const { data: people } = await app.call(users.list_users, {});
  const nora = people.find(({ name }) => name === "Nora");
  if (read === undefined || unread === undefined || nora === undefined) {
    throw new Error("Two conversations and Nora have to be there.");
  }
  await app.call(conversations.update_conversation, { id: read.id, is_unread: false }, { key });
  await app.call(conversations.update_conversation, { id: unread.id, is_unread: true }, { key });
  const note = { conversation_id: read.id, text: "@Nora, please call back.", mentions: [nora.id] };
  await app.call(notes.add_note, note, { key });
  const json = { conversation_id: read.id, state: "writing" };
  await app.fetch("/v1/events/presence", { method: "PUT", key, json });
}
