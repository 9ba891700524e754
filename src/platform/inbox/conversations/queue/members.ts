/** What a new member of a team gets: the conversations that are already theirs, and those of the queue. */
import { ofOrganization } from "../../../../database/query/index.ts";
import type { Change, Transaction } from "../../../foundation/kernel/index.ts";
import { applyLoadChanges, countsAsLoad } from "../../teams/index.ts";
import { serveQueueNow } from "./serve.ts";

interface Membership {
  readonly organization: string;
  readonly team_id: string;
  readonly user_id: string;
}

/** @returns the number of conversations that the user already had in the team. */
export async function addMember(change: Change, member: Membership): Promise<number> {
  const { tx } = change;
  const { organization: organization_id, team_id, user_id } = member;
  const own = await countConversations(tx, member);
  if (own > 0) {
    await applyLoadChanges(tx, [{ organization_id, team_id, user_id, delta: own }]);
  }
  await serveQueueNow(change, organization_id);
  return own;
}

/** The load of a returning member. Locks the conversations, so that none is closed before the commit. */
async function countConversations(
  tx: Transaction,
  { organization, team_id, user_id }: Membership,
): Promise<number> {
  const conversations = await ofOrganization(tx, organization)
    .selectFrom("conversations")
    .select("status")
    .where("team_id", "=", team_id)
    .where("assigned_to", "=", user_id)
    .where("erased_at", "is", null)
    .where("status", "in", ["open", "pending"])
    .forUpdate()
    .execute();
  return conversations.filter(({ status }) => countsAsLoad(status)).length;
}
