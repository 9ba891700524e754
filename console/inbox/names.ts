/** What a contact, a sender and an actor are called. */
import { session } from "../session/session.ts";
import { texts } from "../texts.ts";
import type { Context, Message } from "./conversation/open-conversation.ts";
import { directory } from "./directory.ts";

export function nameOf({ contact, conversation }: Context): string {
  return contact.name ?? contact.username ?? conversation.phone_number ?? texts.unknownContact;
}

/** A user's name; people who have left are not in the directory. */
export function nameOfPerson(id: string): string {
  return directory.value.people.find((person) => person.id === id)?.name ?? texts.formerPerson;
}

type Actor = NonNullable<Message["sent_by"]>;

/** Who wrote a message or a note: a person, an assistant with the name of its key, the bot, or a flow. */
export function describeSender(actor: Pick<Actor, "type" | "id" | "name"> & Partial<Actor>): string {
  if (actor.type === "user") {
    return actor.id === session.value?.user.id ? texts.senders.you : actor.name;
  }
  if (actor.type === "api_key") {
    return actor.tool === undefined ? texts.senders.key(actor.name) : texts.senders.assistant(actor.name);
  }
  return texts.senders[actor.type](actor.name);
}
