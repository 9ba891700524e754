/**
 * The job for an event of a conversation. Gives a message to the run that waits for a reply, and then starts
 * the matching flows.
 *
 * Both happen in one transaction, which the events of several conversations may share, and the job may be
 * repeated: a wait accepts only messages that are later than the wait, and an event starts a flow once. Then
 * the job advances the runs like `flow.advance`, because another job would delay the answer.
 */

import { sql } from "kysely";
import { z } from "zod";
import { ofOrganization } from "../../../../database/query/index.ts";
import { shareWithinOrganization } from "../../../../database/sharing/index.ts";
import { defineJob, type Transaction, type World } from "../../../foundation/kernel/index.ts";
import { advance, createAdvanceJob, keyOf, type RunKey } from "../run/index.ts";
import { createVerdicts, learnVerdicts } from "../texts/patterns.ts";
import { type Occasion, react } from "./react.ts";

const Payload = z.object({
  organization_id: z.string(),
  event_id: z.string(),
  event_type: z.string(),
  conversation_id: z.string(),
  message_id: z.string().nullable(),
  failed_id: z.string().optional(),
  last_user_message_at: z.string().optional(),
});
type Payload = z.infer<typeof Payload>;

export const triggerJob = defineJob<Payload>({
  name: "flow.trigger",
  payload: Payload,
  slots: 1 / 4,

  async run(payload, world, { signal }) {
    for (const key of await startRunning(world, payload)) {
      if (await advance(world, key, signal)) {
        return { runAgainAt: world.now() };
      }
    }
    return undefined;
  },

  /** Each run gets a job with attempts of its own. */
  async exhausted({ organization_id, conversation_id }, world) {
    await world.database.transaction(async (tx) => {
      const runningOf = await readRunning(tx, organization_id, [conversation_id]);
      await tx.enqueue(runningOf(conversation_id).map(createAdvanceJob));
    });
  },
});

/**
 * Returns the runs of the conversation that have something to do, including runs that an earlier attempt
 * started.
 */
function startRunning(world: World, payload: Payload): Promise<readonly RunKey[]> {
  const { organization_id } = payload;
  const occasion = { organization_id, payload, verdicts: createVerdicts(world) };
  return learnVerdicts(occasion.verdicts, async () => {
    return (await startShared(world, occasion)) ?? (await startAlone(world, occasion));
  });
}

const startShared = shareWithinOrganization((tx: Transaction, world: World, occasions: readonly Occasion[]) =>
  reactAndRead(tx, world, occasions, { waitsForLocks: false }),
);

function startAlone(world: World, occasion: Occasion) {
  return world.database.transaction(async (tx) => {
    const [attempt] = await reactAndRead(tx, world, [occasion], { waitsForLocks: true });
    return attempt ?? { result: [] };
  });
}

/**
 * Reacts to events of one organization. A result is undefined if the event needs a transaction of its own.
 */
async function reactAndRead(
  tx: Transaction,
  world: World,
  occasions: readonly Occasion[],
  options: { readonly waitsForLocks: boolean },
) {
  const [organization = ""] = occasions.map(({ organization_id }) => organization_id);
  const attempts = await react(tx, world, occasions, options);
  const reacted = occasions.flatMap(({ payload }, index) => {
    const attempt = attempts[index];
    return attempt && "result" in attempt ? payload.conversation_id : [];
  });
  const runningOf = await readRunning(tx, organization, reacted);
  return attempts.map((attempt, index) => {
    const id = occasions[index]?.payload.conversation_id ?? "";
    return attempt && "result" in attempt ? { result: runningOf(id) } : attempt;
  });
}

/**
 * Returns the function that returns the runs of a conversation that have something to do, in the order of
 * their start.
 */
async function readRunning(
  tx: Transaction,
  organization: string,
  conversation_ids: readonly string[],
): Promise<(conversation_id: string) => readonly RunKey[]> {
  const running = await ofOrganization(tx, organization)
    .selectFrom("flow_runs")
    .select(["organization_id", "conversation_id", "contact_id", "id"])
    .where(sql<boolean>`conversation_id = any(${conversation_ids}::text[])`)
    .where("status", "=", "running")
    .orderBy("id")
    .execute();
  return (conversation_id) => running.filter((run) => run.conversation_id === conversation_id).map(keyOf);
}
