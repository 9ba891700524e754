/**
 * The credentials of a WhatsApp number as a person enters them: which are asked in which step, what is wrong
 * before Meta is asked, and what the service's answer says of each check.
 *
 * The service checks in a fixed order and names the first wrong field. What it checks before is therefore
 * right.
 */
import type { Input } from "../../service/call.ts";
import { ServiceError } from "../../service/errors.ts";
import { texts } from "../../texts.ts";

export type Credentials = NonNullable<Input<"create_inbox">["credentials"]>;
export type CredentialName = keyof Credentials;

const words = texts.channels.inboxes.setup;

export const accountFields = ["phone_number_id", "waba_id"] as const;
export const appFields = ["app_id", "app_secret", "access_token", "verify_token"] as const;

export const pathOf = (name: CredentialName) => `credentials.${name}`;

/** @returns what is wrong with the value; undefined if Meta has to say */
function findMistake(name: CredentialName, value: string): string | undefined {
  if (value.trim() === "") {
    return words.required;
  }
  if (name === "phone_number_id" || name === "waba_id" || name === "app_id") {
    return /^\d+$/.test(value.trim()) ? undefined : words.digits;
  }
  return /^[!-~]{8,}$/.test(value.trim()) ? undefined : words.tooShort(8);
}

/** What is wrong with these fields, by their paths. */
export function findMistakes(
  names: readonly CredentialName[],
  credentials: Credentials,
): ReadonlyMap<string, string> {
  return new Map(
    names.flatMap((name) => {
      const mistake = findMistake(name, credentials[name]);
      return mistake === undefined ? [] : [[pathOf(name), mistake] as const];
    }),
  );
}

export function emptyCredentials(): Credentials {
  return {
    phone_number_id: "",
    waba_id: "",
    app_id: "",
    app_secret: "",
    access_token: "",
    verify_token: makeVerifyToken(),
  };
}

/** Spaces around a copied value are not part of it. */
export function trimAll(credentials: Credentials): Credentials {
  const entries = Object.entries(credentials).map(([name, value]) => [name, value.trim()]);
  return Object.fromEntries(entries) as Credentials; // the same names
}

function makeVerifyToken(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(18));
  return btoa(String.fromCharCode(...bytes))
    .replace(/\+/g, "-")
    .replace(/\//g, "_");
}

export type CheckName = keyof typeof words.checks;
export type CheckState = keyof typeof words.results;
export type CheckStates = Readonly<Record<CheckName, CheckState>>;

export const untested: CheckStates = {
  token: "open",
  number: "open",
  subscription: "open",
  secret: "open",
  app: "open",
};

/** In the order of the service; the token is asked for twice. */
const order = Object.keys(untested) as CheckName[]; // the keys of a literal

/** The check that has failed, by the field that the service names. */
const checkOf: Readonly<Record<string, CheckName>> = {
  waba_id: "token",
  access_token: "token",
  phone_number_id: "number",
  app_secret: "secret",
  app_id: "app",
};

interface Rejection {
  readonly states: CheckStates;
  /** The same error, with the reason and the place at Meta beside the field. */
  readonly error: ServiceError;
}

/** @returns undefined for an error that is not about the credentials */
export function readRejection(error: unknown): Rejection | undefined {
  if (!(error instanceof ServiceError) || error.code !== "credentials_rejected") {
    return undefined;
  }
  const field = String(error.facts.param).replace("credentials.", "") as CredentialName; // as the error says
  const failed = checkOf[field];
  if (failed === undefined) {
    return undefined;
  }
  // The token may read the account and not subscribe to it.
  const isSubscription = field === "access_token" && error.message.includes("subscribe");
  const at = order.indexOf(isSubscription ? "subscription" : failed);
  const states = Object.fromEntries(
    order.map((name, index) => [name, index < at ? "passed" : index === at ? "failed" : "open"]),
  ) as CheckStates; // all of `order`
  const details = [{ field: pathOf(field), message: describeRejection(error.message) }];
  return {
    states,
    error: new ServiceError(error.status, error.code, error.message, { ...error.facts, details }),
  };
}

/** The hint of the field has its place on Meta's pages. */
function describeRejection(message: string): string {
  const [, reason = message] = /credentials: (.*?\.) Compare them/.exec(message) ?? [];
  const sentence = reason.charAt(0).toUpperCase() + reason.slice(1);
  return `${sentence} ${words.compare}`;
}
