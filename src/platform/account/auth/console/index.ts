/**
 * The routes by which the console signs a person in, gets access tokens and signs the person out.
 *
 * The cookie opens these routes alone. The page calls the API with the access token that it gets here, which
 * it keeps in memory.
 */
import { auth as contract } from "../../../../../tools/auth.ts";
import { parseFields } from "../../../../../tools/contract/index.ts";
import { fail } from "../../../../../tools/errors.ts";
import type { ModuleRoute } from "../../../foundation/kernel/index.ts";
import { requireNotSuspended } from "../../identity/index.ts";
import { verifyCredentials } from "../credentials.ts";
import { describeBrowser } from "./browser.ts";
import { clearCookie } from "./cookie.ts";
import { signInByLink } from "./link-route.ts";
import { endConsoleSession, touchConsoleSession } from "./sessions.ts";
import {
  describeConsoleSession,
  readConsoleCookie,
  recordLogin,
  signInToConsole,
  toAnswer,
  uncached,
} from "./sign-in.ts";

const login: ModuleRoute = {
  methods: ["POST"],
  path: "/console/login",
  credential: "none",
  isForOwnPages: true,
  body: "json",
  triesPassword: true,
  async handle({ body, headers }, world) {
    const credentials = parseFields(contract.login.input, body);
    const record = recordLogin(world, body);
    try {
      const user = await verifyCredentials(world, credentials, record);
      const browser = describeBrowser(headers["user-agent"]);
      const signedIn = await world.database.transaction(async (tx) => {
        const previous = await readConsoleCookie(tx, world, headers.cookie);
        return signInToConsole(tx, world, { user, previous, record, signed_in_by: "password", browser });
      });
      return toAnswer(world, signedIn);
    } catch (failure) {
      record.fail(failure);
      throw failure;
    }
  },
};

/** Gives the page its next access token. */
const renew: ModuleRoute = {
  methods: ["POST"],
  path: "/console/session",
  credential: "none",
  isForOwnPages: true,
  body: "none",
  async handle({ headers }, world) {
    const { queries } = world.database;
    const session = await readConsoleCookie(queries, world, headers.cookie);
    if (!session) {
      throw fail("console_session_ended");
    }
    requireNotSuspended(session);
    if (!(await touchConsoleSession(queries, session, world.now()))) {
      throw fail("console_session_ended");
    }
    const body = await describeConsoleSession(queries, world, session);
    return { status: 200, headers: uncached, body };
  },
};

const signOut: ModuleRoute = {
  methods: ["DELETE"],
  path: "/console/session",
  credential: "none",
  isForOwnPages: true,
  body: "none",
  async handle({ headers }, world) {
    const { queries } = world.database;
    const session = await readConsoleCookie(queries, world, headers.cookie);
    if (session) {
      await endConsoleSession(queries, session, world.now());
    }
    return { status: 204, headers: { ...uncached, "set-cookie": clearCookie(world) } };
  },
};

export { createSignInLink } from "./links.ts";
export { endOtherSessions, endOwnSession, listOwnSessions, requireSession } from "./own-sessions.ts";
export { endConsoleSessionsOf } from "./sessions.ts";

export const consoleRoutes: readonly ModuleRoute[] = [login, signInByLink, renew, signOut];
