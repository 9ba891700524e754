/**
 * The process of two webhook receivers: one answers at once and records arrivals; the other never answers.
 */
import { createHmac } from "node:crypto";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

/** Messages to this process and from it. */
export type ReceiverCommand = { readonly secret: string } | { readonly wants: "report" };
export interface ReceiverPorts {
  readonly healthy: number;
  readonly hanging: number;
}
export interface DeliveryReport {
  /** Event id, its message and milliseconds from the event to its first arrival. */
  readonly arrivals: readonly (readonly [id: string, message: string, ms: number])[];
  readonly repeated: number;
  readonly forged: number;
}

const arrivals = new Map<string, readonly [id: string, message: string, ms: number]>();
let repeated = 0;
let forged = 0;
let secret = "";

const healthy = createServer((request, response) => {
  const chunks: Buffer[] = [];
  request.on("data", (chunk: Buffer) => chunks.push(chunk));
  request.on("end", () => {
    const now = Date.now();
    const body = Buffer.concat(chunks);
    response.end("ok");
    if (request.headers["x-webhook-signature"] !== createHmac("sha256", secret).update(body).digest("hex")) {
      forged += 1;
      return;
    }
    const event = JSON.parse(body.toString()) as {
      id: string;
      created_at: string;
      data: { message_id: string };
    };
    if (arrivals.has(event.id)) {
      repeated += 1;
      return;
    }
    arrivals.set(event.id, [event.id, event.data.message_id, now - Date.parse(event.created_at)]);
  });
});
const hanging = createServer(() => undefined);

const ports = await Promise.all(
  [healthy, hanging].map(
    (server) =>
      new Promise<number>((resolve) => {
        // It listens on a TCP port.
        server.listen(0, "127.0.0.1", () => resolve((server.address() as AddressInfo).port));
      }),
  ),
);
process.on("message", (command: ReceiverCommand) => {
  if ("secret" in command) {
    secret = command.secret;
    arrivals.clear();
    [repeated, forged] = [0, 0];
    return;
  }
  process.send?.({ arrivals: [...arrivals.values()], repeated, forged } satisfies DeliveryReport);
});
process.on("disconnect", () => process.exit(0));
process.send?.({ healthy: ports[0] ?? 0, hanging: ports[1] ?? 0 } satisfies ReceiverPorts);
