/** The catalogue: every operation by name, resource by resource. */
import { apiKeys } from "./api-keys.ts";
import { auth } from "./auth.ts";
import { contacts } from "./contacts.ts";
import { conversations } from "./conversations.ts";
import { mcp } from "./mcp.ts";
import { messages } from "./messages.ts";

/** Every resource, in the order in which tools are listed. */
export const resources = {
  contacts,
  conversations,
  messages,
  "api-keys": apiKeys,
  auth,
  mcp,
};

export const catalogue = {
  ...contacts,
  ...conversations,
  ...messages,
  ...apiKeys,
  ...auth,
  ...mcp,
};

export type OperationName = keyof typeof catalogue;
