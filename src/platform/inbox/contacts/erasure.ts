/**
 * Erases a contact from every module.
 *
 * Rows that are few are erased in the caller's transaction. The others are erased by a job after the commit; until
 * it ends, the kernel hides the stored responses about the contact and its conversations.
 */
import { z } from "zod";
import { fail } from "../../../../tools/errors.ts";
import { together } from "../../../database/transaction.ts";
import { newJob } from "../../../jobs/job.ts";
import {
  type Change,
  defineJob,
  type ErasureSteps,
  eraseStored,
  hideStored,
  type World,
} from "../../foundation/kernel/index.ts";

/** A contact that is being erased. Its row is locked, and so are its conversations after `find`. */
export interface ErasedContact {
  readonly organization_id: string;
  readonly contact_id: string;
  /** Empty during `find`. */
  readonly conversation_ids: readonly string[];
  /** The values of its identities, by which a channel reports what the person does. */
  readonly identities: readonly string[];
}

/** The `erase` of a module. */
export function erasesContact(erase: ErasureSteps<ErasedContact>): ErasureSteps {
  return erase;
}

/** Erases a contact, whose row must be locked: concurrent writes for it wait, and find no contact afterwards. */
export async function eraseContact(
  change: Change,
  named: Omit<ErasedContact, "conversation_ids">,
): Promise<void> {
  const { tx, world } = change;
  const erasers = erasersOf(world);
  const found = await together(...erasers.map(({ find }) => find?.(tx, { ...named, conversation_ids: [] })));
  const contact = { ...named, conversation_ids: found.flatMap((ids) => ids ?? []) };
  await hideStored(tx, contact.organization_id, subjectsOf(contact));
  for (const { now } of erasers) {
    await now?.(change, contact);
  }
  await tx.enqueue([newJob(eraseContactJob, contact)]);
}

/** Erases the rows that may be many. Safe to repeat. */
export const eraseContactJob = defineJob<ErasedContact>({
  name: "contact.erase",
  payload: z.object({
    organization_id: z.string(),
    contact_id: z.string(),
    conversation_ids: z.array(z.string()),
    identities: z.array(z.string()).default([]),
  }),

  async run(contact, world) {
    for (const eraseBatch of erasersOf(world).flatMap(({ later }) => later ?? [])) {
      let after: string | undefined = "";
      while (after !== undefined) {
        const from: string = after;
        after = await world.database.transaction((tx) => eraseBatch(tx, contact, from));
      }
    }
    const { organization_id, identities } = contact;
    await eraseStored(world, {
      organization_id,
      subjects: subjectsOf(contact),
      otherJobs: identities.map((identity) => reporterSubject(organization_id, identity)),
      failure: fail("contact_not_found"),
    });
    return undefined;
  },
});

/** The subject of a job that holds what a channel reported of a person, whose contact is not known yet. */
export function reporterSubject(organization_id: string, identity: string): string {
  return `person:${organization_id}:${identity}`;
}

function subjectsOf({ contact_id, conversation_ids }: ErasedContact): string[] {
  return [contact_id, ...conversation_ids];
}

function erasersOf({ erasers }: World) {
  // `erasesContact` is the only way to an eraser.
  return erasers as readonly ErasureSteps<ErasedContact>[];
}
