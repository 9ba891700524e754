/** Starts the process of the webhook receivers and communicates with it. */
import { fork } from "node:child_process";
import { once } from "node:events";
import type { DeliveryReport, ReceiverCommand, ReceiverPorts } from "./webhook-receiver-process.ts";

export interface Receivers extends Disposable {
  readonly ports: ReceiverPorts;
  /** Discards previous arrivals, and from now on accepts deliveries signed with this secret. */
  expectSecret(secret: string): void;
  report(): Promise<DeliveryReport>;
}

export async function startReceivers(): Promise<Receivers> {
  const child = fork(new URL("./webhook-receiver-process.ts", import.meta.url), {
    execArgv: ["--import", "tsx"],
  });
  const [ports] = (await once(child, "message")) as [ReceiverPorts]; // its first message
  const send = (message: ReceiverCommand) => void child.send(message);
  return {
    ports,
    expectSecret: (secret) => send({ secret }),
    async report() {
      send({ wants: "report" });
      const [report] = (await once(child, "message")) as [DeliveryReport]; // sent only in reply
      return report;
    },
    [Symbol.dispose]: () => child.disconnect(),
  };
}
