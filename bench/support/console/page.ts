/** Pages of the console for the benchmark, and its lines of output. */
import type { BrowserContext, Page } from "playwright-core";

export interface ConsoleBench {
  /** The owner is signed in. */
  readonly context: BrowserContext;
  readonly baseUrl: string;
  readonly key: string;
}

interface Comparison {
  readonly value: number;
  /** The most that the value may be. */
  readonly target: number;
}

export function report(what: string, figure: string, comparison?: Comparison): void {
  const target = comparison === undefined ? "" : `  (target ${comparison.target}`;
  const verdict = comparison === undefined ? "" : comparison.value <= comparison.target ? ")" : ", missed)";
  console.log(`${what.padEnd(56)} ${figure.padStart(10)}${target}${verdict}`);
}

export async function signIn(
  bench: ConsoleBench,
  { email, password }: { readonly email: string; readonly password: string },
): Promise<void> {
  const page = await openConsole(bench);
  await page.getByLabel("E-mail address").fill(email);
  await page.getByLabel("Password").fill(password);
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: "Inbox" }).waitFor({ state: "attached" });
  await page.close();
}

export async function openConsole({ context, baseUrl }: ConsoleBench, path = ""): Promise<Page> {
  const page = await context.newPage();
  await page.goto(`${baseUrl}/console/${path}`);
  return page;
}

/** Sends a request with the API key. @throws if it is rejected */
export async function post(bench: ConsoleBench, path: string, json: unknown): Promise<void> {
  const answer = await fetch(bench.baseUrl + path, {
    method: "POST",
    headers: { "content-type": "application/json", "x-api-key": bench.key },
    body: JSON.stringify(json),
  });
  if (!answer.ok) {
    throw new Error(await answer.text());
  }
  await answer.arrayBuffer();
}
