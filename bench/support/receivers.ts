/** The receivers' process, as a bench speaks to it. */
import { fork } from "node:child_process";
import { once } from "node:events";
import type { DeliveryReport, ReceiverCommand, ReceiverPorts } from "./webhook-receiver-process.ts";

export interface Receivers extends Disposable {
  readonly ports: ReceiverPorts;
  /** Forgets what came, and believes what is signed with this secret. */
  expectSecret(secret: string): void;
  report(): Promise<DeliveryReport>;
}

export async function startReceivers(): Promise<Receivers> {
  const child = fork(new URL("./webhook-receiver-process.ts", import.meta.url), {
    execArgv: ["--import", "tsx"],
  });
  const [ports] = (await once(child, "message")) as [ReceiverPorts]; // its first word
  const ask = (message: ReceiverCommand) => void child.send(message);
  return {
    ports,
    expectSecret: (secret) => ask({ secret }),
    async report() {
      ask({ wants: "report" });
      const [report] = (await once(child, "message")) as [DeliveryReport]; // it says nothing unasked
      return report;
    },
    [Symbol.dispose]: () => child.disconnect(),
  };
}
