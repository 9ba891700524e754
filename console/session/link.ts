/**
 * Signing in by a link, `/console/#login=<token>`. The token is taken out of the address at once, so that
 * neither the history nor a bookmark keeps it.
 */
import { signal } from "@preact/signals";
import { showToast } from "../controls/toast.tsx";
import { describeError } from "../service/describe-error.ts";
import { ServiceError } from "../service/errors.ts";
import { renewSession, session, signInByLink } from "./session.ts";

interface LinkOffer {
  readonly token: string;
  /** The person of the link. */
  readonly name: string;
  readonly email: string;
}

/** A link that waits for an answer, because another person is signed in; null without one. */
export const linkOffer = signal<LinkOffer | null>(null);

/** Why a link did not sign in, for the page of the sign-in. */
export const linkProblem = signal("");

/** A link that the service could not be asked about. */
let unanswered: string | undefined;

/**
 * Signs in by the link in the address; without one, continues the session that the browser has.
 *
 * @throws ConnectionError, ServiceError
 */
export async function openSession(): Promise<void> {
  const token = takeToken() ?? unanswered;
  unanswered = undefined;
  if (token !== undefined) {
    await openLink(token);
  } else if (session.value === undefined) {
    await renewSession();
  }
}

const fragment = "#login=";

function takeToken(): string | undefined {
  const { hash, pathname, search } = location;
  if (!hash.startsWith(fragment)) {
    return undefined;
  }
  history.replaceState(history.state, "", pathname + search);
  return hash.slice(fragment.length);
}

async function openLink(token: string): Promise<void> {
  linkProblem.value = "";
  try {
    await signInByLink({ token });
  } catch (error) {
    if (!(error instanceof ServiceError)) {
      unanswered = token;
      throw error;
    }
    await renewSession();
    explain(error, token);
  }
}

function explain(error: ServiceError, token: string): void {
  if (!session.value) {
    linkProblem.value = describeError(error);
  } else if (error.code === "other_person_signed_in") {
    const { name, email } = error.facts;
    linkOffer.value = { token, name: String(name), email: String(email) };
  } else {
    showToast(describeError(error));
  }
}

/** Ends the session of the person who is signed in, and shows the console of the link's person. */
export async function acceptOffer({ token }: LinkOffer): Promise<void> {
  await signInByLink({ token, replaces_session: true });
  // The address may name a record of the other person's organization.
  history.replaceState(null, "", "/console/");
}
