/**
 * Erases a contact from every module, and from the stored responses and jobs of the kernel.
 *
 * Rows that are few are erased in the caller's transaction. The others are erased by a job after the commit; until
 * it ends, the table of erasures hides the stored responses.
 */

import { sql } from "kysely";
import { z } from "zod";
import { fail } from "../../../../tools/errors.ts";
import { ofOrganization } from "../../../database/query/index.ts";
import { together } from "../../../database/transaction.ts";
import { eraseJobs } from "../../../jobs/erase.ts";
import { newJob } from "../../../jobs/job.ts";
import type { Change, ErasedContact, World } from "./context.ts";
import { defineJob } from "./job.ts";
import type { Transaction } from "./transaction.ts";

/** Responses in one transaction. */
const batchSize = 500;

/** Erases a contact, whose row must be locked: concurrent writes for it wait, and find no contact afterwards. */
export async function eraseContact(
  change: Change,
  named: Omit<ErasedContact, "conversation_ids">,
): Promise<void> {
  const { tx, world } = change;
  const found = await together(...world.erasers.map(({ find }) => find?.(tx, named)));
  const contact = { ...named, conversation_ids: found.flatMap((ids) => ids ?? []) };
  await tx
    .insertInto("erasures")
    .values(subjectsOf(contact).map((subject) => ({ organization_id: contact.organization_id, subject })))
    .execute();
  for (const { now } of world.erasers) {
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
    for (const eraseBatch of world.erasers.flatMap(({ later }) => later ?? [])) {
      let after: string | undefined = "";
      while (after !== undefined) {
        const from: string = after;
        after = await world.database.transaction((tx) => eraseBatch(tx, contact, from));
      }
    }
    await eraseStoredResponses(world, contact);
    await world.database.transaction((tx) => finish(tx, world, contact));
    return undefined;
  },
});

/** The idempotency keys stay: a repeated request is answered with `contact_not_found` and does not run again. */
async function eraseStoredResponses({ database }: World, contact: ErasedContact): Promise<void> {
  const failure = fail("contact_not_found");
  let count = batchSize;
  while (count === batchSize) {
    const { rows } = await sql`
      update idempotency set status = ${failure.status}, body = ${JSON.stringify(failure.body())}, subjects = '{}'
      where ctid = any(array(
        select ctid from idempotency
        where subjects && ${subjectsOf(contact)}::text[] and organization_id = ${contact.organization_id}
        limit ${batchSize}
      ))
      returning 1
    `.execute(database.queries);
    count = rows.length;
  }
}

async function finish(tx: Transaction, world: World, contact: ErasedContact): Promise<void> {
  const { organization_id, identities } = contact;
  const subjects = subjectsOf(contact);
  const reporters = identities.map((identity) => reporterSubject(organization_id, identity));
  await eraseJobs(tx, [...subjects, ...reporters], world.jobsKeptByErasure);
  await ofOrganization(tx, organization_id)
    .deleteFrom("erasures")
    .where(sql<boolean>`subject = any(${subjects}::text[])`)
    .execute();
}

/** The subject of a job that holds what a channel reported of a person, whose contact is not known yet. */
export function reporterSubject(organization_id: string, identity: string): string {
  return `person:${organization_id}:${identity}`;
}

function subjectsOf({ contact_id, conversation_ids }: ErasedContact): string[] {
  return [contact_id, ...conversation_ids];
}
