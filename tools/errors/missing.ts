/** Ids and addresses at which there is nothing, for this organization at least. */
import { type Entry, entry } from "./entry.ts";

export const missingErrors = {
  route_not_found: entry(
    "not_found",
    404,
    "There is nothing at {method} {path}.",
    "GET /v1/openapi.json lists every operation.",
  ),
  contact_not_found: entry(
    "not_found",
    404,
    "There is no contact with this id.",
    "Find the id with list_contacts (GET /v1/contacts).",
  ),
  conversation_not_found: entry(
    "not_found",
    404,
    "There is no conversation with this id.",
    "Find the id with list_conversations (GET /v1/conversations).",
  ),
  message_not_found: entry(
    "not_found",
    404,
    "There is no message with this id in this conversation.",
    "Find the id with list_messages (GET /v1/messages).",
  ),
  api_key_not_found: entry(
    "not_found",
    404,
    "There is no API key with this id.",
    "Find the id with list_api_keys (GET /v1/api-keys).",
  ),
  user_not_found: entry(
    "not_found",
    404,
    "There is no user with this id.",
    "Find the id with list_users (GET /v1/users).",
  ),
  inbox_not_found: entry(
    "not_found",
    404,
    "There is no inbox with this id.",
    "Find the id with list_inboxes (GET /v1/inboxes).",
  ),
  team_not_found: entry(
    "not_found",
    404,
    "There is no team with this id.",
    "Find the id with list_teams (GET /v1/teams).",
  ),
  team_member_not_found: entry(
    "not_found",
    404,
    "There is no member with this id in this team.",
    "Find the id with list_team_members (GET /v1/teams/{id}/members).",
  ),
  routing_policy_not_found: entry(
    "not_found",
    404,
    "There is no routing policy with this id.",
    "Find the id with list_routing_policies (GET /v1/routing/policies).",
  ),
  quick_reply_not_found: entry(
    "not_found",
    404,
    "There is no quick reply with this id.",
    "Find the id with list_quick_replies (GET /v1/quick-replies).",
  ),
  webhook_not_found: entry(
    "not_found",
    404,
    "There is no webhook with this id.",
    "Find the id with list_webhooks (GET /v1/webhook-subscriptions).",
  ),
  webhook_delivery_not_found: entry(
    "not_found",
    404,
    "This webhook has no delivery with this id.",
    "Find the id with list_webhook_deliveries; deliveries are kept for 15 days.",
  ),
  tool_not_found: entry(
    "not_found",
    404,
    "There is no tool named {value}.",
    "GET /v1/mcp/tools lists the tools that this credential may call.",
  ),
} as const satisfies Record<string, Entry>;
