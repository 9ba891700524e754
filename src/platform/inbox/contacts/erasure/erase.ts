/**
 * Erases a contact from every module.
 *
 * Rows that are few are erased in the caller's transaction. The others are erased by a job after the commit;
 * until it ends, the kernel hides the stored responses about the contact and its conversations.
 */
import { z } from "zod";
import { fail } from "../../../../../tools/errors.ts";
import { ofOrganization } from "../../../../database/query/index.ts";
import { together } from "../../../../database/transaction.ts";
import { newJob } from "../../../../jobs/job.ts";
import {
  type Change,
  defineJob,
  type ErasureSteps,
  eraseStored,
  hideStored,
  type Transaction,
  type World,
} from "../../../foundation/kernel/index.ts";
import { recordErasureJob } from "./record.ts";

/** A contact that is being erased. Its row is locked, and so are its conversations after `find`. */
export interface ErasedContact {
  readonly organization_id: string;
  readonly contact_id: string;
  /** Empty during `find`. */
  readonly conversation_ids: readonly string[];
  /** The values of its identities, by which a channel reports what the person does. */
  readonly identities: readonly string[];
}

type ContactName = Pick<ErasedContact, "organization_id" | "contact_id">;

/** The `erase` of a module. */
export function erasesContact(erase: ErasureSteps<ErasedContact>): ErasureSteps {
  return erase;
}

/**
 * Erases a contact, whose row must be locked: concurrent writes for it wait, and find no contact afterwards.
 */
export async function eraseContact(
  change: Change,
  { organization_id, contact_id }: ContactName,
): Promise<void> {
  const { tx, world, now } = change;
  const erasers = erasersOf(world);
  const identities = await listIdentities(tx, organization_id, contact_id);
  const named = { organization_id, contact_id, identities };
  const found = await together(...erasers.map(({ find }) => find?.(tx, { ...named, conversation_ids: [] })));
  const contact = { ...named, conversation_ids: found.flatMap((ids) => ids ?? []) };
  await hideStored(tx, contact.organization_id, subjectsOf(contact));
  for (const { now } of erasers) {
    await now?.(change, contact);
  }
  await tx.enqueue([newJob(eraseContactJob, contact)]);
  if (world.erasureLog !== undefined) {
    const erasure = { organization: organization_id, contact_id, erased_at: now.toISOString() };
    await tx.enqueue([newJob(recordErasureJob, erasure)]);
  }
}

/** Erases the contact if it exists and is not erased. Returns whether it did. */
export async function eraseKnownContact(change: Change, contact: ContactName): Promise<boolean> {
  const found = await ofOrganization(change.tx, contact.organization_id)
    .selectFrom("contacts")
    .select("id")
    .where("id", "=", contact.contact_id)
    .where("erased_at", "is", null)
    .forUpdate()
    .executeTakeFirst();
  if (found) {
    await eraseContact(change, contact);
  }
  return found !== undefined;
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

async function listIdentities(tx: Transaction, organization: string, contact_id: string) {
  const rows = await ofOrganization(tx, organization)
    .selectFrom("contact_identities")
    .select("value")
    .where("contact_id", "=", contact_id)
    .execute();
  return rows.map(({ value }) => value);
}

function subjectsOf({ contact_id, conversation_ids }: ErasedContact): string[] {
  return [contact_id, ...conversation_ids];
}

function erasersOf({ erasers }: World) {
  // `erasesContact` is the only way to an eraser.
  return erasers as readonly ErasureSteps<ErasedContact>[];
}
