/** An example of an inbox: a shop for books, its people, and what customers wrote. */
import { setTimeout as sleep } from "node:timers/promises";
import { createClient } from "../../../src/client/index.ts";
import { auth } from "../../../tools/auth.ts";
import { contacts } from "../../../tools/contacts.ts";
import { conversations } from "../../../tools/conversations.ts";
import { messages } from "../../../tools/messages/index.ts";
import { notes } from "../../../tools/notes.ts";
import { organization } from "../../../tools/organization.ts";
import { users } from "../../../tools/users.ts";

export const owner = { email: "mara@harbour-books.example", password: "correct horse battery" };

/** Time for the receipts of the simulated channel. */
const receiptMs = 1_500;

interface Customer {
  readonly number: string;
  readonly name: string;
  readonly text: string;
  readonly tags?: readonly string[];
  readonly answer?: string;
}

const others: readonly Customer[] = [
  {
    number: "+442079460101",
    name: "Omar Haddad",
    text: "Thank you, see you on Saturday!",
    answer: "See you!",
  },
  { number: "+4930901820102", name: "Lena Fischer", text: "Do you buy used books?", tags: ["used"] },
  { number: "+14155550103", name: "Grace Okafor", text: "Is the reading still at 7 pm?", tags: ["events"] },
  { number: "+33199000104", name: "Inès Laurent", text: "My parcel arrived damaged.", tags: ["returns"] },
  {
    number: "+442079460105",
    name: "Tom Baker",
    text: "Can I pay on collection?",
    answer: "Yes, cash or card.",
  },
];

/** @returns the id of the conversation that the pictures show */
export async function fillInbox(address: string, key: string): Promise<string> {
  const client = createClient({ baseUrl: address, key });
  const simulate = async (path: string, json: object): Promise<string> => {
    const answer = await fetch(`${address}/simulator/${path}`, {
      method: "POST",
      headers: { "content-type": "application/json", "x-api-key": key },
      body: JSON.stringify(json),
    });
    if (!answer.ok) {
      throw new Error(await answer.text());
    }
    const { data } = (await answer.json()) as { data: { conversation_id: string } };
    return data.conversation_id;
  };
  const say = async (id: string, body: string, credential = key) => {
    const input = { to: id, type: "text", text: { body } } as const;
    await client.call(messages.send_message, input, { key: credential });
    await sleep(receiptMs);
  };
  try {
    const { data: session } = await client.call(auth.login, owner);
    const person = { key: session.access_token };
    await client.call(organization.update_organization, {
      name: "Harbour Books",
      time_zone: "Europe/London",
    });
    await client.call(users.update_user, { id: session.user.id, name: "Mara Lindqvist" }, person);
    const colleague = { email: "jonas@harbour-books.example", name: "Jonas Weber" };
    const { data: jonas } = await client.call(users.create_user, colleague, person);

    for (const { number, name, text, tags, answer } of others) {
      const id = await simulate("inbound", { from: number, name, text });
      if (tags !== undefined) {
        await client.call(conversations.update_conversation, { id, add_tags: [...tags] });
      }
      if (answer !== undefined) {
        await say(id, answer, session.access_token);
      }
    }

    const ada = { from: "+14155550123", name: "Ada Moreno" };
    const id = await simulate("inbound", { ...ada, text: "Hi! I ordered two novels on Monday." });
    const { data: assigned } = await client.call(conversations.get_conversation, { id });
    await client.call(contacts.tag_contact, { id: assigned.contact_id, add: ["book club"] });
    await client.call(conversations.update_conversation, { id, add_tags: ["orders"] });
    await client.call(conversations.assign_conversation, { id, assigned_to: session.user.id }, person);
    await say(id, "Hello Ada, let me look that up for you.", session.access_token);
    await simulate("inbound", { ...ada, text: "Thank you. The order number is A-1742." });
    await client.call(
      notes.add_note,
      { conversation_id: id, text: `One of the two is at the printer's. ${jonas.name} knows more.` },
      person,
    );
    await say(
      id,
      "One book is ready for you today, the other one arrives on Thursday.",
      session.access_token,
    );
    await simulate(`phones/${encodeURIComponent(ada.from)}/read`, {});
    await simulate("inbound", { ...ada, text: "Then I will collect both on Thursday." });
    await sleep(receiptMs);
    return id;
  } finally {
    await client.close();
  }
}
