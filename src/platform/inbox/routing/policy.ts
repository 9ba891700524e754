/** What routing works with: a policy with its settings complete, and what it must know of a conversation. */
import type { Selectable } from "kysely";
import type { Tables } from "../../../database/schema/index.ts";
import { type PolicySettings, readPolicySettings } from "./settings.ts";

/** The columns of a conversation that routing reads. */
export type RoutedConversation = Pick<
  Selectable<Tables["conversations"]>,
  | "organization_id"
  | "id"
  | "contact_id"
  | "inbox_id"
  | "status"
  | "tags"
  | "is_favorite"
  | "referrals"
  | "last_message_at"
  | "last_user_message_at"
  | "assigned_to"
  | "team_id"
  | "policy_id"
  | "queued_at"
>;

type PolicyRow = Selectable<Tables["routing_policies"]>;

export interface Policy
  extends Pick<PolicyRow, "organization_id" | "name" | "strategy" | "target_type" | "target_id"> {
  /** Null for the default policy of a team that has none. */
  readonly id: string | null;
  readonly conditions: Readonly<Record<string, unknown>>;
  readonly settings: PolicySettings;
}

export function toPolicy(row: PolicyRow): Policy {
  return { ...row, settings: readPolicySettings(row.settings) };
}

/** The policy of a team that has none: the agent with the lowest load. */
export function defaultPolicy(organization_id: string, { id, name }: { id: string; name: string }): Policy {
  return {
    organization_id,
    id: null,
    name,
    strategy: "load_balanced",
    target_type: "team",
    target_id: id,
    conditions: {},
    settings: readPolicySettings({}),
  };
}
