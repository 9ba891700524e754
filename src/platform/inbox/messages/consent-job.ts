/**
 * Changes a contact's consent to marketing as the channel reports it: the person stopped or resumed marketing
 * in the channel's app, or the channel refused a message because of that. Nothing is sent to the contact.
 */
import { z } from "zod";
import { ofOrganization, refersTo } from "../../../database/query/index.ts";
import { type NewJob, newJob } from "../../../jobs/job.ts";
import { isSimulatedBesideReal } from "../../account/inboxes/index.ts";
import { type Change, defineJob, system } from "../../foundation/kernel/index.ts";
import {
  changeConsent,
  findContact,
  findOrCreateContact,
  type StoredSender,
  senderFields,
  withSender,
} from "../contacts/index.ts";
import { type DeliveryError, internalFailures } from "./wording/index.ts";

const Payload = z.object({
  organization_id: z.string(),
  opted_out: z.boolean(),
  occurred_at: z.string(),
  /** The contact of a conversation, or a person by number and ids. */
  contact: z.union([z.object({ conversation_id: z.string() }), z.object(senderFields)]),
});
type Payload = z.infer<typeof Payload>;

export const changeConsentJob = defineJob({
  name: "contact.consent",
  payload: Payload,
  isKeptByErasure: true,

  async run(payload, world) {
    await world.database.transaction(async (tx) => {
      const change = { tx, world, now: world.now(), actor: system };
      const contact = await findPerson(change, payload);
      if (contact) {
        const { opted_out, occurred_at: at } = payload;
        await changeConsent(change, contact, { opted_out, at });
      }
    });
    return undefined;
  },
});

interface FailedMessage {
  readonly message_id: string;
  readonly type: string;
  readonly at: string;
  readonly error?: DeliveryError | undefined;
}

/** Of the messages that the channel refused because their recipients opted out. */
export function newOptOuts(
  messages: ReadonlyMap<string, { readonly organization_id: string; readonly conversation_id: string }>,
  updates: readonly FailedMessage[],
): readonly NewJob[] {
  return updates.flatMap(({ message_id, type, at: occurred_at, error }) => {
    const message = messages.get(message_id);
    // After the service's own error, the contact is opted out here already.
    const isReported = error?.code === "marketing_opt_out" && error !== internalFailures.opted_out;
    if (!message || type !== "failed" || !isReported) {
      return [];
    }
    const { organization_id, conversation_id } = message;
    const payload = { organization_id, opted_out: true, occurred_at, contact: { conversation_id } };
    return [newJob(changeConsentJob, payload, { subject: conversation_id })];
  });
}

async function findPerson(change: Change, { organization_id: organization, ...payload }: Payload) {
  const { contact, opted_out } = payload;
  if ("conversation_id" in contact) {
    const row = await ofOrganization(change.tx, organization)
      .selectFrom("conversations")
      .innerJoin("inboxes", (join) => join.on(refersTo("conversations.inbox_id", "inboxes")))
      .select(["conversations.contact_id as id", "conversations.organization_id", "inboxes.channel"])
      .where("conversations.id", "=", contact.conversation_id)
      .executeTakeFirst();
    return row && !(await isSimulatedBesideReal(change, row)) ? row : undefined;
  }
  return opted_out
    ? createPerson(change, organization, contact)
    : findContact(change.tx, lookupOf(organization, contact));
}

/** An opt-out of a person who is not known yet is kept: an import may add the person. */
async function createPerson(change: Change, organization: string, person: StoredSender) {
  return (await findOrCreateContact(change, lookupOf(organization, person))).contact;
}

function lookupOf(organization: string, person: StoredSender) {
  return { organization, identities: withSender(person).from };
}
