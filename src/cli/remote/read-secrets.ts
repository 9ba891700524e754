/** Secrets that a command needs: from the environment, from stdin as JSON, or typed at a terminal. */
import { createInterface } from "node:readline/promises";
import { Writable } from "node:stream";
import { z } from "zod";
import { readBytes } from "../../streams/bytes.ts";
import { UsageError } from "../commands/command-error.ts";

export const Secrets = z.strictObject({
  app_secret: z.string().max(2048).optional(),
  access_token: z.string().max(2048).optional(),
  pin: z.string().max(6).optional(),
});
export type Secrets = z.infer<typeof Secrets>;

const maxBytes = 16_384;

/** @throws UsageError for anything but an object of texts. The error repeats no value. */
export async function readSecretsFromStdin(): Promise<Secrets> {
  const form =
    'Send JSON on stdin: {"app_secret": "…", "access_token": "…", "pin": "…"}. Each may be left out.';
  const bytes = await readBytes(process.stdin, maxBytes, () => new UsageError(form));
  try {
    return Secrets.parse(JSON.parse(bytes.toString("utf8")));
  } catch {
    // The cause is left out: it could repeat a part of a secret.
    throw new UsageError(form);
  }
}

export function canAsk(): boolean {
  return process.stdin.isTTY === true && process.stderr.isTTY === true;
}

/** Asks at the terminal, on stderr. What is typed is not shown if it is a secret. */
export async function ask(question: string, { isSecret }: { readonly isSecret: boolean }): Promise<string> {
  process.stderr.write(`${question}: `);
  const silent = new Writable({ write: (_chunk, _encoding, done) => done() });
  const output = isSecret ? silent : process.stderr;
  const terminal = createInterface({ input: process.stdin, output, terminal: true });
  try {
    return (await terminal.question("")).trim();
  } finally {
    terminal.close();
    if (isSecret) {
      process.stderr.write("\n");
    }
  }
}
