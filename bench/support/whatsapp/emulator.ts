/** The built emulator of WhatsApp in its own process, and its controls. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { defaults } from "../../../emulator/index.ts";
import { pollUntil } from "../service.ts";

export const credentials = {
  phone_number_id: defaults.phone_number_id,
  waba_id: defaults.waba_id,
  app_id: defaults.app_id,
  access_token: defaults.access_token,
  app_secret: defaults.app_secret,
  verify_token: defaults.verify_token,
};
export const businessNumber = `+${defaults.phone_number}`;

/** A message that the emulator accepted. */
export interface Arrival {
  /** The service's id of the message. */
  readonly token: string;
  readonly receivedAt: number;
}

export interface BenchEmulator extends AsyncDisposable {
  readonly baseUrl: string;
  control(method: string, path: string, body?: object): Promise<unknown>;
  arrivals(): Promise<readonly Arrival[]>;
  countArrivals(): Promise<number>;
}

interface SentList {
  readonly total: number;
  readonly data: readonly { readonly body: Record<string, string>; readonly received_at: string }[];
}

/**
 * Starts the emulator without a rate limit, so that a send above the service's rate is counted and not
 * refused.
 */
export async function startEmulatorProcess(port: number): Promise<BenchEmulator> {
  const options = ["--port", String(port), "--messages-per-second", "100000"];
  const child = spawn(process.execPath, ["dist/tidings.js", "whatsapp-emulator", ...options], {
    stdio: ["ignore", "ignore", "inherit"],
  });
  const baseUrl = `http://127.0.0.1:${port}`;
  await pollUntil(async () => {
    if (child.exitCode !== null) {
      throw new Error(`The emulator ended with ${child.exitCode} before it answered.`);
    }
    return (await fetch(`${baseUrl}/emulator`).catch(() => undefined))?.ok ?? false;
  });
  const control = async (method: string, path: string, body?: object): Promise<unknown> => {
    const response = await fetch(`${baseUrl}/emulator${path}`, {
      method,
      ...(body && { body: JSON.stringify(body) }),
    });
    const answer = await response.json();
    if (!response.ok) {
      throw new Error(`${method} ${path} answered ${response.status}: ${JSON.stringify(answer)}`);
    }
    return answer;
  };
  // The form of the control's response, see docs/whatsapp-emulator.md.
  const list = async (limit: number) => (await control("GET", `/messages?limit=${limit}`)) as SentList;
  return {
    baseUrl,
    control,
    async arrivals() {
      const { data } = await list(10_000);
      return data.map(({ body, received_at }) => ({
        token: body.biz_opaque_callback_data ?? "",
        receivedAt: Date.parse(received_at),
      }));
    },
    countArrivals: async () => (await list(1)).total,
    async [Symbol.asyncDispose]() {
      child.kill("SIGKILL");
      await once(child, "exit");
    },
  };
}

/** The largest number of these ascending times in any period of `ms`. */
export function maxWithin(times: readonly number[], ms: number): number {
  let [first, max] = [0, 0];
  for (const [index, time] of times.entries()) {
    while ((times[first] ?? time) <= time - ms) {
      first += 1;
    }
    max = Math.max(max, index - first + 1);
  }
  return max;
}
