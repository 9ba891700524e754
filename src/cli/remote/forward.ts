/** Sends events to a program under development, signed like webhooks. */
import { readFile, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { createFile, errorCode } from "../../database/ownership/index.ts";
import { newSigningSecret, signDelivery } from "../../platform/foundation/sealing/index.ts";
import { UsageError } from "../commands/command-error.ts";
import { openDataFolder } from "../data-folder/data-folder.ts";

/** The timeout of a webhook delivery. */
const timeoutMs = 30_000;

interface Event {
  readonly id: string;
  readonly type: string;
}

/** @throws UsageError without an address that events can be sent to. */
export function readReceiver(command: string, address: string | undefined): string {
  if (address === undefined || !URL.canParse(address) || !/^https?:$/.test(new URL(address).protocol)) {
    throw new UsageError(`tidings ${command} takes an address: --forward-to http://127.0.0.1:4000/hooks`);
  }
  return address;
}

/** What `newSigningSecret` makes: 32 bytes in base64. */
const secretForm = /^whsec_[A-Za-z0-9+/]{43}=$/;

/**
 * The secret that signs what this machine forwards. It stays in the data folder, so that a program is
 * configured once; `isNew` replaces it.
 * @throws Error that says how to replace a file that can't be used.
 */
export async function keepSigningSecret(
  dataDir: string,
  { isNew }: { readonly isNew: boolean },
): Promise<string> {
  const { path } = await openDataFolder(dataDir);
  const file = join(path, "listen-secret");
  try {
    if (isNew) {
      await rm(file, { force: true });
    }
    await createFile(file, `${newSigningSecret()}\n`);
    return await readSigningSecret(file);
  } catch (cause) {
    const code = errorCode(cause);
    throw code === undefined
      ? cause
      : new Error(
          `The signing secret in ${file} can't be used (${code}). Delete it: the next run makes another one.`,
          { cause },
        );
  }
}

async function readSigningSecret(file: string): Promise<string> {
  const found = await stat(file);
  if (!found.isFile()) {
    throw new Error(`${file} is not a file. Delete it: the next run makes a signing secret there.`);
  }
  // Windows has no such permissions: what it reports there says nothing.
  if (process.platform !== "win32" && (found.mode & 0o077) !== 0) {
    throw new Error(
      `Other users of this machine may read the signing secret in ${file}. Run chmod 600 on it, or replace it with tidings listen --new-secret.`,
    );
  }
  const secret = (await readFile(file, "utf8")).trim();
  if (!secretForm.test(secret)) {
    throw new Error(
      `${file} does not contain a signing secret. Replace it with tidings listen --new-secret, and give the new one to your program.`,
    );
  }
  return secret;
}

interface Forwarding {
  /** The time in UTC. */
  readonly time: string;
  /** The receiver's status, or null if none came. */
  readonly status_code: number | null;
  readonly problem: string | null;
  readonly ms: number;
}

/** Sends an event once. */
export async function forwardEvent(event: Event, url: string, secret: string): Promise<Forwarding> {
  const body = JSON.stringify(event);
  const now = new Date();
  const headers = signDelivery({ id: event.id, body, now, secrets: [secret] });
  const begin = performance.now();
  const outcome = await fetch(url, {
    method: "POST",
    headers,
    body,
    redirect: "manual",
    signal: AbortSignal.timeout(timeoutMs),
  }).then(
    async (answer) => {
      await answer.body?.cancel();
      return { status_code: answer.status, problem: null };
    },
    (error: Error) => {
      const problem = error.cause instanceof Error ? error.cause.message : error.message;
      return { status_code: null, problem };
    },
  );
  return { time: now.toISOString().slice(11, 19), ms: Math.round(performance.now() - begin), ...outcome };
}

/** One line with the result. */
export function describeForwarding(
  { id, type }: Event,
  { time, status_code, problem, ms }: Forwarding,
): string {
  return `${time}  ${type}  ${id}  ${status_code ?? `failed: ${problem}`}  ${ms} ms`;
}
