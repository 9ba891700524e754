/** Links that sign a person in to the console, as `tidings console` makes them. */
import type { ConsoleAnswer, TestBrowser } from "./console.ts";

/** The key of a data folder: give it to the app as `localKey`. */
export const localKey = `sk_live_${"l".repeat(43)}`;

interface LinkSource {
  readonly address: string;
  /** The key of its data folder. */
  readonly key?: string;
}

/** Runs the command in the service of this machine. By default for the owner. */
export async function requestLink(
  { address, key = localKey }: LinkSource,
  user?: string,
): Promise<Pick<ConsoleAnswer, "status" | "body">> {
  const answer = await fetch(`${address}/data-folder/commands/create-sign-in-link`, {
    method: "POST",
    headers: { "x-api-key": key, "content-type": "application/json" },
    body: JSON.stringify({ user }),
  });
  return { status: answer.status, body: await answer.json() };
}

/** The token of a new link. */
export async function createToken(source: LinkSource, user?: string): Promise<string> {
  const { body } = await requestLink(source, user);
  return body.data.token;
}

let count = 0;

/** Opens a link in a browser, from an address of its own. */
export function openLink(
  browser: TestBrowser,
  token: string,
  { headers = {}, ...json }: { headers?: Readonly<Record<string, string>>; replaces_session?: boolean } = {},
) {
  count += 1;
  const from = { "x-forwarded-for": `198.52.${count >> 8}.${count & 255}` };
  return browser.send("POST /console/link", { json: { token, ...json }, headers: { ...from, ...headers } });
}
