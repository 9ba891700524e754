/** Moves a contact to the number or the channel's id that the person has from now on. */
import { z } from "zod";
import type { IdentityMove } from "../../../../ports/channel/channel.ts";
import { defineJob, system, type World } from "../../../foundation/kernel/index.ts";
import { moveIdentities } from "../../contacts/index.ts";

export type Person = IdentityMove["from"];

/** The key of the jobs that receive what a person sends, in order. */
export function personKey(organization_id: string, { phone_number, bsuid }: Person): string {
  return `message.receive:${organization_id}:${phone_number ?? bsuid}`;
}

/** The key that the person has after a move: later messages of the person wait for the move. */
export function keyAfter(organization_id: string, { from, to }: Pick<IdentityMove, "from" | "to">): string {
  return personKey(organization_id, { ...to, phone_number: to.phone_number ?? from.phone_number });
}

/** How long a move waits for an earlier message, for example one whose file could not be fetched. */
const waitMs = 2_000;

const PersonIds = z.object({ phone_number: z.string().nullable(), bsuid: z.string().nullable() });

export const moveContactJob = defineJob({
  name: "contact.move",
  payload: z.object({ organization_id: z.string(), occurred_at: z.string(), from: PersonIds, to: PersonIds }),
  isKeptByErasure: true,

  async run({ organization_id, from, to }, world, { id }) {
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
