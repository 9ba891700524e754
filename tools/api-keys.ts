/** API keys: credentials for servers and assistants, each limited to its scopes. */
import { z } from "zod";
import { BudgetUse } from "./budgets.ts";
import {
  all,
  allScopes,
  DeletionResult,
  describedForTools,
  type ErrorEntry,
  errorEntry,
  id,
  inputTimestamp,
  isAdministrative,
  one,
  operation,
  timestamp,
} from "./contract/index.ts";
import { Rules } from "./rules.ts";

/** Account scopes can't be granted here: only a signed-in user grants them, on the other path. */
const grantable = allScopes.filter((scope) => !isAdministrative(scope));

const ApiKey = z.object({
  id: z.string(),
  name: z.string(),
  prefix: z.string(),
  scopes: z.array(z.string()),
  last_used_at: timestamp.nullable(),
  expires_at: timestamp.nullable(),
  created_by: z.string().nullable(),
  created_at: timestamp,
  is_active: z.boolean(),
  /** Its own rules; null: none. The rules of the keys by which it was made bind it too. */
  rules: Rules.nullable(),
  /** What is used of its own budgets; null: it has none. Those of the keys by which it was made count too. */
  budget_use: BudgetUse.nullable(),
});

// The secret precedes the prefix, which could be mistaken for it.
const CreatedApiKey = z.object({
  id: ApiKey.shape.id,
  name: ApiKey.shape.name,
  secret_key: z.string(),
  ...ApiKey.pick({ prefix: true, scopes: true, expires_at: true, created_at: true }).shape,
});

export const apiKeys = {
  create_api_key: operation({
    method: "POST",
    path: "/v1/api-keys",
    also: [{ path: "/v1/developer-access/api-keys", credential: "bearer", scope: null, variant: "personal" }],
    scope: "tokens:create",
    title: "Create API key",
    description:
      "Create an API key for a server or an assistant, with scopes that the caller holds. secret_key is returned only in this response.",
    input: z.object({
      name: z.string().min(1).max(255).describe("Purpose"),
      scopes: describedForTools(
        z
          .array(z.string().max(64))
          .min(1)
          .max(50)
          .describe(`Scopes to grant: ${grantable.join(", ")}`),
        "Scopes to grant, like contacts:read; the caller's are in whoami",
      ),
      expires_at: inputTimestamp.optional().describe("Expiry time. Default: never"),
    }),
    output: one(CreatedApiKey),
    status: 201,
    showsSecret: true,
  }),

  list_api_keys: operation({
    method: "GET",
    path: "/v1/api-keys",
    scope: "tokens:read",
    title: "List API keys",
    description: "List the organization's API keys with their scopes and last use, without secrets.",
    input: z.object({}),
    output: all(ApiKey),
  }),

  set_api_key_rules: operation({
    method: "PUT",
    path: "/v1/api-keys/{id}/rules",
    credential: "person",
    scope: "tokens:create",
    tools: {},
    title: "Set the rules of an API key",
    description:
      "Set what a key may do alone, and what needs a plan or a person. They also bind the keys that it makes. Only a signed-in person may.",
    input: z.object({
      id: id("Key", "list_api_keys"),
      rules: Rules.nullable().describe("Rules; null removes them"),
    }),
    output: one(ApiKey),
  }),

  delete_api_key: operation({
    method: "DELETE",
    path: "/v1/api-keys/{id}",
    scope: "tokens:create",
    title: "Delete API key",
    description: "Revoke an API key immediately.",
    input: z.object({ id: id("Key", "list_api_keys") }),
    output: one(DeletionResult),
  }),
};

export const apiKeyErrors = {
  scope_not_held: errorEntry(
    "permission",
    403,
    "The credential does not hold {value}, and a credential can grant only scopes that it holds.",
    "Omit that scope, or use a credential that holds it.",
  ),
  invalid_scope: errorEntry(
    "invalid_request",
    400,
    "Unknown scope: {value}.",
    "Use only scopes from this list: {known}.",
  ),
  scope_needs_sign_in: errorEntry(
    "invalid_request",
    400,
    "{value} can't be granted here.",
    "Account scopes are granted by a signed-in owner or admin, with POST /v1/developer-access/api-keys.",
  ),
  expiry_not_in_future: errorEntry(
    "invalid_request",
    400,
    "expires_at must be in the future.",
    "Send a later time, or omit expires_at for a key that does not expire.",
  ),
  expiry_beyond_own: errorEntry(
    "permission",
    403,
    "This key expires at {limit}, and a key can't create one that lives longer.",
    "Send expires_at of at most {limit}, or use a credential that does not expire.",
  ),
  api_key_not_found: errorEntry(
    "not_found",
    404,
    "There is no API key with this id.",
    "Find the id with list_api_keys (GET /v1/api-keys).",
  ),
} as const satisfies Record<string, ErrorEntry>;
