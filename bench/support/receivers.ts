/** The receivers' process, as a bench speaks to it. */
import { fork } from "node:child_process";
import { once } from "node:events";
import type { Ask, Ports, Report } from "./webhook-receivers.ts";

export interface Receivers extends Disposable {
  readonly ports: Ports;
  /** Forgets what came, and believes what is signed with this secret. */
  expect(secret: string): void;
  report(): Promise<Report>;
}

export async function startReceivers(): Promise<Receivers> {
  const child = fork(new URL("./webhook-receivers.ts", import.meta.url), { execArgv: ["--import", "tsx"] });
  const [ports] = (await once(child, "message")) as [Ports]; // its first word
  const ask = (message: Ask) => void child.send(message);
  return {
    ports,
    expect: (secret) => ask({ secret }),
    async report() {
      ask({ wants: "report" });
      const [report] = (await once(child, "message")) as [Report]; // it says nothing unasked
      return report;
    },
    [Symbol.dispose]: () => child.disconnect(),
  };
}
