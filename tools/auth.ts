/** Sign-in: users' access tokens, and the description of a credential. */
import { z } from "zod";
import {
  allScopes,
  chosenPassword,
  DeletionResult,
  type ErrorEntry,
  errorEntry,
  id,
  one,
  operation,
  paged,
  paging,
  passwordRule,
  timestamp,
} from "./contract/index.ts";
import { Inbox } from "./inboxes.ts";
import { OrganizationSummary } from "./organization.ts";
import { emailAddress, personName, roles } from "./users.ts";

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
  /** The setting, the header or the rules that hide them; null: scopes are missing. */
  setting: z.string().nullable(),
});

const credentials = {
  email: z.string().min(1).max(320).describe("The user's e-mail address"),
  password: z.string().min(1).max(passwordRule.max).describe("The user's password"),
};

/** How a session of the console began. Plans are released by persons who signed in by password. */
const signedInBy = z.enum(["password", "link"]);

/** A session of the console in the list of a person's own. */
const ListedConsoleSession = z.object({
  id: z.string(),
  /** Like `Firefox on Linux`, as the browser said when it signed in; null: unknown. */
  browser: z.string().nullable(),
  signed_in_by: signedInBy,
  /** When the person signed in. */
  created_at: timestamp,
  /** When the page last got an access token, which it does about every 13 minutes while it is open. */
  last_used_at: timestamp,
  /** When it ends unless it is used before. */
  expires_at: timestamp,
  /** Whether the request has an access token of this session. */
  is_current: z.boolean(),
});

/** The answer to the page of the console: an access token for the API, and for whom it is. */
export const ConsoleSession = one(
  z.object({
    access_token: z.string(),
    /** When the access token ends: ask for the next one before that. */
    expires_at: timestamp,
    session_id: z.string(),
    signed_in_by: signedInBy,
    user: User.omit({ organization_id: true }).extend({ scopes: z.array(z.enum(allScopes)) }),
    organization: OrganizationSummary,
    /**
     * Starts the MCP server on the machine of the service, for those who make keys. Null if the service can
     * be used from other machines.
     */
    assistant_command: z.object({ command: z.string(), args: z.array(z.string()) }).nullable(),
  }),
);

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

  change_email: operation({
    method: "PUT",
    path: "/v1/auth/email",
    credential: "none",
    sensitive: true,
    scope: null,
    failures: [409],
    title: "Change e-mail address",
    description:
      "Replace the e-mail address with which a user signs in, given the password. The user's sessions continue.",
    input: z.object({ ...credentials, new_email: emailAddress.describe("The new e-mail address") }),
    output: one(User),
    tools: {},
  }),

  update_profile: operation({
    method: "PUT",
    path: "/v1/auth/profile",
    credential: "person",
    scope: null,
    title: "Update profile",
    description: "Change the signed-in person's own name. Requires a signed-in person's access token.",
    input: z.object({ name: personName }),
    output: one(User),
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

  list_console_sessions: operation({
    method: "GET",
    path: "/v1/auth/console-sessions",
    credential: "person",
    scope: null,
    tools: {},
    title: "List console sessions",
    description: "List the person's own sessions of the console that have not ended, the last used first.",
    input: z.object(paging(25)),
    output: paged(ListedConsoleSession),
  }),

  end_console_session: operation({
    method: "DELETE",
    path: "/v1/auth/console-sessions/{id}",
    credential: "person",
    scope: null,
    tools: {},
    title: "End console session",
    description:
      "End one of the person's own sessions of the console. Its access tokens are rejected at once, and its streams of events end.",
    input: z.object({ id: id("Session", "list_console_sessions") }),
    output: one(DeletionResult),
  }),

  end_other_console_sessions: operation({
    method: "POST",
    path: "/v1/auth/console-sessions/end-others",
    credential: "person",
    scope: null,
    tools: {},
    title: "End other console sessions",
    description:
      "End all of the person's own sessions of the console except the one whose access token is sent.",
    input: z.object({}),
    output: one(
      z.object({
        /** How many sessions have ended. */
        ended: z.int(),
      }),
    ),
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
        /** The operations to which rules limit it, besides this one and plans of them; null: no limit. */
        allowed_operations: z.array(z.string()).nullable(),
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
  console_session_ended: errorEntry(
    "authentication",
    401,
    "There is no session of the console, or it has ended.",
    "Sign in with POST /console/login.",
  ),
  console_session_not_found: errorEntry(
    "not_found",
    404,
    "The person has no such session of the console, or it has ended.",
    "Find the id with GET /v1/auth/console-sessions.",
  ),
  sign_in_link_invalid: errorEntry(
    "authentication",
    401,
    "The link was used before, has expired or is incomplete. A link signs in once, within 10 minutes.",
    "Run tidings console on the machine of the service, which prints a new link.",
  ),
  other_person_signed_in: errorEntry(
    "conflict",
    409,
    "The link is for {name}, and another person is signed in in this browser.",
    "Send it again with replaces_session: true, which ends that person's session here.",
  ),
} as const satisfies Record<string, ErrorEntry>;
