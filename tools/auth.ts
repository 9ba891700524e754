/** Sign-in: users' access tokens, and the description of a credential. */
import { z } from "zod";
import {
  allScopes,
  chosenPassword,
  type ErrorEntry,
  errorEntry,
  one,
  operation,
  passwordRule,
  timestamp,
} from "./contract/index.ts";
import { Inbox } from "./inboxes.ts";
import { OrganizationSummary } from "./organization.ts";
import { roles } from "./users.ts";

const User = z.object({
  id: z.string(),
  email: z.string(),
  name: z.string(),
  role: z.enum(roles),
  organization_id: z.string(),
});

const Session = z.object({
  access_token: z.string(),
  token_type: z.literal("Bearer"),
  expires_in: z.int(),
  refresh_token: z.string(),
  refresh_expires_in: z.int(),
  user: User,
});

/** The tools of one resource that the caller does not have, for one reason. */
const HiddenTools = z.object({
  /** The resource, as TIDINGS_TOOLSETS names it. */
  group: z.string(),
  tools: z.array(z.string()),
  /** Each of them, where one of several would do. */
  missing_scopes: z.array(z.enum(allScopes)),
  /** The setting or the header that hides them; null: scopes are missing. */
  setting: z.string().nullable(),
});

const credentials = {
  email: z.string().min(1).max(320).describe("The user's e-mail address"),
  password: z.string().min(1).max(passwordRule.max).describe("The user's password"),
};

export const auth = {
  login: operation({
    method: "POST",
    path: "/v1/auth/login",
    credential: "none",
    sensitive: true,
    showsSecret: true,
    scope: null,
    title: "Log in",
    description: "Exchange an e-mail address and a password for an access token and a refresh token.",
    input: z.object(credentials),
    output: one(Session),
    tools: {},
  }),

  change_password: operation({
    method: "PUT",
    path: "/v1/auth/password",
    credential: "none",
    sensitive: true,
    scope: null,
    title: "Change password",
    description:
      "Replace a user's password, given the current one. All of the user's sessions end; the response starts a new one.",
    input: z.object({ ...credentials, new_password: chosenPassword }),
    output: one(Session),
    tools: {},
  }),

  refresh: operation({
    method: "POST",
    path: "/v1/auth/refresh",
    credential: "none",
    scope: null,
    title: "Refresh access token",
    description:
      "Exchange a refresh token for a new access token and a new refresh token. Each refresh token works once.",
    input: z.object({
      refresh_token: z.string().min(1).max(512).describe("The latest refresh token"),
    }),
    output: one(Session),
    showsSecret: true,
    tools: {},
  }),

  whoami: operation({
    method: "GET",
    path: "/v1/whoami",
    scope: null,
    tier: "lean",
    title: "Describe credential",
    description:
      "Describe what this credential works with: its organization with time zone and currency, the time, inboxes and whether they are simulated, scopes, and hidden tools with the reason. Call it first.",
    input: z.object({}),
    output: one(
      z.object({
        organization: OrganizationSummary,
        credential: z.object({
          type: z.enum(["api_key", "access_token"]),
          id: z.string(),
          name: z.string(),
          expires_at: timestamp.nullable(),
        }),
        user: User.omit({ organization_id: true }).nullable(),
        role: z.enum(roles).nullable(),
        scopes: z.array(z.enum(allScopes)),
        missing_scopes: z.array(z.enum(allScopes)),
        inboxes: z.array(
          Inbox.pick({ id: true, name: true, phone_number: true, channel: true, simulated: true }),
        ),
        /** The tools that this credential can't call, and why. */
        hidden_tools: z.array(HiddenTools),
        now: timestamp,
      }),
    ),
    hides: "hidden_tools",
  }),
};

export const authErrors = {
  login_failed: errorEntry(
    "authentication",
    401,
    "The e-mail address or the password is wrong.",
    "Check both and try again.",
  ),
  refresh_token_invalid: errorEntry(
    "authentication",
    401,
    "The refresh token is unknown or expired.",
    "Sign in again with POST /v1/auth/login.",
  ),
  refresh_token_reused: errorEntry(
    "authentication",
    401,
    "The refresh token was used before. All tokens of that session are now revoked.",
    "Sign in again with POST /v1/auth/login.",
  ),
} as const satisfies Record<string, ErrorEntry>;
