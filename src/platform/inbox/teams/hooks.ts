/** What the modules above do when teams and their members change. */
import { type Change, defineHook } from "../../foundation/kernel/index.ts";

/**
 * A team has a new member, whose row is locked: the conversations that the user already has in it
 * are counted, and waiting ones that the member can take are assigned now. Not an event: the
 * answer says how many.
 * @returns the number of conversations that the user already had in the team.
 */
export const memberAdded = defineHook<
  [
    change: Change,
    member: { readonly organization: string; readonly team_id: string; readonly user_id: string },
  ],
  number
>();

/**
 * A team is being deleted. Called before its members are locked, and again afterwards. Not an event: a
 * handler refuses it, and no conversation may refer to the team after the commit.
 * @throws Failure `team_in_use`.
 */
export const teamDeleted =
  defineHook<[change: Change, team: { readonly organization: string; readonly team_id: string }]>();
