/**
 * Names contacts as the owner of the inbox has saved them on the phone. The address book makes nobody a
 * contact, and a name that a contact has stays.
 */
import { z } from "zod";
import { defineJob, system } from "../../../../foundation/kernel/index.ts";
import { changeContact, findContact, senderFields, withSender } from "../../../contacts/index.ts";

/** Until the second attempt; each later wait is as long as all before it. */
const firstWaitMs = 10 * 60_000;
/** The phone reports its messages, which make persons contacts, within a day after its names. */
const maxWaitMs = 24 * 3_600_000;

export const namePersonsJob = defineJob({
  name: "contact.name",
  payload: z.object({
    ...senderFields,
    organization_id: z.string(),
    received_at: z.string(),
    name: z.string(),
  }),

  async run({ organization_id: organization, received_at, name, ...person }, world) {
    const isKnown = await world.database.transaction(async (tx) => {
      const change = { tx, world, now: world.now(), actor: system };
      const identities = withSender(person).from;
      const contact = await findContact(tx, { organization, identities });
      if (contact?.name === null) {
        await changeContact({ ...change, organization }, contact.id, { name });
      }
      return contact !== undefined;
    });
    const waitedMs = world.now().getTime() - Date.parse(received_at);
    return isKnown || waitedMs >= maxWaitMs
      ? undefined
      : { runAgainAt: new Date(world.now().getTime() + Math.max(waitedMs, firstWaitMs)) };
  },
});
