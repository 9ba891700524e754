/** The route by which a page signs a person in with the token of a link. */
import { z } from "zod";
import { parseFields } from "../../../../../tools/contract/index.ts";
import { fail } from "../../../../../tools/errors.ts";
import type { ModuleRoute, World } from "../../../foundation/kernel/index.ts";
import { requireActiveOrganization } from "../../identity/index.ts";
import { toAgent } from "../credentials.ts";
import { describeBrowser } from "./browser.ts";
import { takeSignInLink } from "./links.ts";
import { touchConsoleSession } from "./sessions.ts";
import {
  describeConsoleSession,
  type LoginRecord,
  readConsoleCookie,
  recordLogin,
  signInToConsole,
  toAnswer,
} from "./sign-in.ts";

const LinkSignIn = z.object({
  token: z.string().min(1).max(512),
  /** Whether the session of another person, whom the browser has signed in, may end. */
  replaces_session: z.boolean().optional(),
});

/**
 * A rejected sign-in leaves the link as it was. If its person is signed in already, that session goes on,
 * because it may have begun with a password.
 */
export const signInByLink: ModuleRoute = {
  methods: ["POST"],
  path: "/console/link",
  credential: "none",
  isForOwnPages: true,
  body: "json",
  triesPassword: true,
  async handle({ body, headers }, world) {
    const input = parseFields(LinkSignIn, body);
    const record = recordLogin(world, {});
    try {
      return toAnswer(world, await signIn(world, { input, headers, record }));
    } catch (failure) {
      record.fail(failure);
      throw failure;
    }
  },
};

interface Attempt {
  readonly input: z.output<typeof LinkSignIn>;
  readonly headers: Readonly<Record<string, string>>;
  readonly record: LoginRecord;
}

/** @throws Failure `sign_in_link_invalid`, `organization_suspended`, `other_person_signed_in`. */
function signIn(world: World, { input, headers, record }: Attempt) {
  return world.database.transaction(async (tx) => {
    const now = world.now();
    const user = await takeSignInLink(tx, input.token, now);
    if (!user) {
      throw fail("sign_in_link_invalid");
    }
    record.identify(toAgent(user, null));
    await requireActiveOrganization(tx, user.organization_id);
    const previous = await readConsoleCookie(tx, world, headers.cookie);
    if (previous?.user_id === user.id && (await touchConsoleSession(tx, previous, now))) {
      const response = await describeConsoleSession(tx, world, previous);
      record.identify(toAgent(user, previous.id));
      record.writeWith(tx, { status: 200, body: response });
      return { secret: undefined, body: response };
    }
    if (previous && previous.user_id !== user.id && input.replaces_session !== true) {
      throw fail("other_person_signed_in", { name: user.name, email: user.email });
    }
    const browser = describeBrowser(headers["user-agent"]);
    return signInToConsole(tx, world, { user, previous, record, signed_in_by: "link", browser });
  });
}
