/** Requests that are valid and that a rule of the business forbids. */
import { type Entry, entry } from "./entry.ts";

export const ruleErrors = {
  no_inbox: entry(
    "business_rule",
    422,
    "The organization has no inbox to send from.",
    "Connect an inbox first.",
  ),
  outside_service_window: entry(
    "business_rule",
    422,
    "The 24-hour service window is closed: the contact has not written in the last 24 hours.",
    "Wait until the contact writes again.",
  ),
  not_a_member: entry(
    "business_rule",
    422,
    "The user is not a member of this team.",
    "Add them with add_team_member, or leave team_id out.",
  ),
  user_inactive: entry(
    "business_rule",
    422,
    "The user is switched off and gets no conversations.",
    "Choose another user (GET /v1/users).",
  ),
  too_many_tags: entry(
    "business_rule",
    422,
    "There are at most {limit} tags on one; there would be {count}.",
    "Take some off in the same call; a contact keeps values in metadata.",
  ),
  too_many_webhooks: entry(
    "business_rule",
    422,
    "There are at most {limit} webhook subscriptions in an organization.",
    "Delete one that is not needed (list_webhooks), or add the events to one that is there (update_webhook).",
  ),
  template_not_approved: entry(
    "business_rule",
    422,
    "There is no approved template named {name} in the language {language}.",
    "Send an approved template, by its name and language (GET /v1/templates?status=approved).",
  ),
} as const satisfies Record<string, Entry>;
