/** Requests that are valid and contradict what is there. */
import { type Entry, entry } from "./entry.ts";

export const conflictErrors = {
  contact_exists: entry(
    "conflict",
    409,
    "A contact with this phone number exists already.",
    "Use the contact in existing_id, or upsert_contact (PUT /v1/contacts) to find or create in one call.",
  ),
  user_exists: entry(
    "conflict",
    409,
    "This e-mail address belongs to a user already.",
    "Use another address, or find the user with list_users (GET /v1/users).",
  ),
  last_owner: entry(
    "conflict",
    409,
    "An organization can't be without an active owner.",
    "Make somebody else an owner first.",
  ),
  inbox_exists: entry(
    "conflict",
    409,
    "An inbox with this phone number exists already.",
    "Use the inbox in existing_id, or another number.",
  ),
  team_member_exists: entry(
    "conflict",
    409,
    "This user is a member of the team already.",
    "Change the member in existing_id with update_team_member (PUT /v1/teams/{id}/members/{member_id}).",
  ),
  team_in_use: entry(
    "conflict",
    409,
    "Routing policies send conversations to this team: {policies}.",
    "Delete them or give them another target first.",
  ),
  quick_reply_exists: entry(
    "conflict",
    409,
    "A quick reply with this short code exists already.",
    "Use another short code, or change the one in existing_id.",
  ),
  wrong_agent: entry(
    "conflict",
    409,
    "The conversation is not assigned to from_agent.",
    "Send the current_agent as from_agent, or use assign_conversation if there is none.",
  ),
  status_not_allowed: entry(
    "conflict",
    409,
    "A conversation that is {current_state} can't become {value}.",
    "Use one of: {allowed}.",
  ),
  webhook_inactive: entry(
    "conflict",
    409,
    "The webhook is switched off: nothing is sent to it.",
    "Switch it on first: update_webhook with is_active true.",
  ),
  idempotency_key_reused: entry(
    "idempotency",
    422,
    "This idempotency key was used before with another request.",
    "Use a new key for a new request; repeat a request only with the same content.",
  ),
} as const satisfies Record<string, Entry>;
