/**
 * Signed bodies of 1 to 10 messages at 500 messages a second: how fast they are answered, and whether all are
 * stored.
 */
import { createHmac } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { quantile, runOpenLoop } from "../load.ts";
import { describeProcessorTimes } from "../messages/processor-time.ts";
import { countReceived, numberOf, startDeployment } from "./deployment.ts";
import { businessNumber, credentials } from "./emulator.ts";

const perSecond = 500;
const seconds = 20;
const maxBody = 10;
const persons = 2_000;
const maxStoreMs = 120_000;

export async function measureIngress(): Promise<void> {
  await using deployment = await startDeployment();
  const { callbackUrl, queries } = deployment;
  const bodies = createBodies();
  const before = await deployment.processorTimes();
  const answers = new Map<number, number>();
  const startedAt = performance.now();
  const result = await runOpenLoop(
    { perSecond: bodies.length / seconds, ms: seconds * 1_000 },
    async (number) => {
      const { body, signature } = bodies[number] ?? sign([]);
      const headers = { "content-type": "application/json", "x-hub-signature-256": signature };
      const response = await fetch(callbackUrl, { method: "POST", headers, body });
      await response.arrayBuffer();
      answers.set(response.status, (answers.get(response.status) ?? 0) + 1);
      return response.status === 200;
    },
  );
  const storedAtEnd = await countReceived(queries);
  const total = perSecond * seconds;
  while ((await countReceived(queries)) < total && performance.now() - startedAt < maxStoreMs) {
    await sleep(100);
  }
  const storedSeconds = (performance.now() - startedAt) / 1_000;
  const after = await deployment.processorTimes();
  const stored = await countReceived(queries);
  const isOk = stored === total && result.errors === 0 && answers.get(200) === bodies.length;
  console.log(
    `ingress: ${bodies.length} bodies with ${total} messages in ${result.seconds.toFixed(1)} s (${(total / result.seconds).toFixed(0)}/s): answers ${JSON.stringify(Object.fromEntries(answers))}, ${result.errors} errors, median ${quantile(result, 0.5).toFixed(1)} ms, p95 ${quantile(result, 0.95).toFixed(1)} ms, max ${quantile(result, 1).toFixed(0)} ms`,
  );
  console.log(
    `  ${storedAtEnd} messages stored at the last answer, ${stored} of ${total} after ${storedSeconds.toFixed(1)} s${isOk ? "" : " MISSED"}`,
  );
  console.log(`  ${describeProcessorTimes(before, after, total)}`);
  process.exitCode = isOk ? process.exitCode : 1;
}

interface SignedBody {
  readonly body: string;
  readonly signature: string;
}

/** All messages, in bodies of 1, 2, … 10, 1 … messages. */
function createBodies(): readonly SignedBody[] {
  const total = perSecond * seconds;
  const bodies: SignedBody[] = [];
  for (let first = 0; first < total; ) {
    const size = Math.min((bodies.length % maxBody) + 1, total - first);
    bodies.push(sign(Array.from({ length: size }, (_, index) => first + index)));
    first += size;
  }
  return bodies;
}

function sign(numbers: readonly number[]): SignedBody {
  const timestamp = String(Math.floor(Date.now() / 1_000));
  const digits = (number: number) => numberOf(number % persons).slice(1);
  const value = {
    messaging_product: "whatsapp",
    metadata: {
      display_phone_number: businessNumber.slice(1),
      phone_number_id: credentials.phone_number_id,
    },
    contacts: numbers.map((number) => ({ profile: { name: `Person ${number}` }, wa_id: digits(number) })),
    messages: numbers.map((number) => ({
      from: digits(number),
      id: `wamid.bench${number}`,
      timestamp,
      type: "text",
      text: { body: `number ${number}` },
    })),
  };
  const entry = [{ id: credentials.waba_id, changes: [{ field: "messages", value }] }];
  const body = JSON.stringify({ object: "whatsapp_business_account", entry });
  const signature = `sha256=${createHmac("sha256", credentials.app_secret).update(body).digest("hex")}`;
  return { body, signature };
}
