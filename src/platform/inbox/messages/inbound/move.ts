/** Moves a contact to the number or the channel's id that the person has from now on. */
import { z } from "zod";
import type { Identities, IdentityMove } from "../../../../ports/channel/address.ts";
import { phoneKey } from "../../../account/phone/index.ts";
import { defineJob, system, type World } from "../../../foundation/kernel/index.ts";
import { moveIdentities, reporterSubject, senderOf } from "../../contacts/index.ts";

/** The key of the jobs that receive what a person sends, in order. */
export function personKey(organization_id: string, person: Identities): string {
  return `message.receive:${organization_id}:${senderOf(person)}`;
}

/** Names the person's data in jobs, so that an erasure finds them. */
export function personSubject(organization_id: string, person: Identities): string {
  const { phone } = person;
  return reporterSubject(organization_id, phone ? phoneKey(phone) : senderOf(person));
}

/** The key that the person has after a move: later messages of the person wait for the move. */
export function keyAfter(organization_id: string, { from, to }: Pick<IdentityMove, "from" | "to">): string {
  return personKey(organization_id, { ...to, phone: to.phone ?? from.phone });
}

/** How long a move waits for an earlier message, for example one whose file could not be fetched. */
const waitMs = 2_000;

/** The form of a previous version, which may run beside this one. */
const StoredPerson = z.object({ phone_number: z.string().nullable() }).catchall(z.string().nullish());
type StoredPerson = z.infer<typeof StoredPerson>;

export function toStoredMove({ from, to, ...move }: IdentityMove) {
  const toStored = ({ phone: phone_number = null, ...ids }: Identities) => ({ phone_number, ...ids });
  return { ...move, from: toStored(from), to: toStored(to) };
}

function toIdentities({ phone_number: phone, ...ids }: StoredPerson): Identities {
  return { phone, ...ids };
}

export const moveContactJob = defineJob({
  name: "contact.move",
  payload: z.object({
    organization_id: z.string(),
    occurred_at: z.string(),
    from: StoredPerson,
    to: StoredPerson,
  }),
  isKeptByErasure: true,

  async run({ organization_id, ...stored }, world, { id }) {
    const from = toIdentities(stored.from);
    const to = toIdentities(stored.to);
    if (await hasEarlierJob(world, { key: personKey(organization_id, from), id })) {
      return { runAgainAt: new Date(world.now().getTime() + waitMs) };
    }
    await world.database.transaction((tx) =>
      moveIdentities({ tx, world, now: world.now(), actor: system }, organization_id, { from, to }),
    );
    return undefined;
  },
});

/** Whether a job that was added before this one has the key. */
async function hasEarlierJob(
  { database }: World,
  { key, id }: { readonly key: string; readonly id: string },
): Promise<boolean> {
  const earlier = await database.queries
    .selectFrom("jobs")
    .select("id")
    .where("key", "=", key)
    .where("id", "<", id)
    .limit(1)
    .executeTakeFirst();
  return earlier !== undefined;
}
