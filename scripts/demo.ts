/**
 * The demonstration: an assistant and a customer exchange messages. Starts the stdio server like an MCP
 * client, on a temporary data folder, and prints each step with its duration.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { openDataFolder } from "../src/cli/data-folder/data-folder.ts";

const customer = "+14155550123";
const dataDir = await mkdtemp(join(tmpdir(), "tidings-demo-"));
const client = new Client({ name: "demo", version: "1.0.0" });
const begin = performance.now();
try {
  await demonstrate();
} finally {
  await client.close();
  await rm(dataDir, { recursive: true, force: true, maxRetries: 5 });
}

async function demonstrate(): Promise<void> {
  await step("the assistant starts the server", async () => {
    const env = { ...process.env, TIDINGS_DATA_DIR: dataDir, TIDINGS_LOG_LEVEL: "error" } as Record<
      string,
      string
    >;
    const transport = new StdioClientTransport({
      command: process.execPath,
      args: ["dist/tidings.js", "mcp"],
      env,
      stderr: "ignore",
    });
    await client.connect(transport);
    return client.getServerVersion()?.title;
  });
  await step("lists its tools", async () => {
    const { tools } = await client.listTools();
    return tools.map(({ name }) => name).join(", ");
  });
  await step("creates two contacts (the first call waits for the database)", async () => {
    await callTool("create_contact", { phone_number: customer, name: "Ada Lovelace" });
    await callTool("create_contact", { phone_number: "+442079460958", name: "Grace Hopper" });
  });
  await step("lists them", async () => {
    const { data } = await callTool("list_contacts", {});
    return data.map(({ name, phone_number }) => `${name} ${phone_number}`).join(", ");
  });
  const sent = await callTool("send_message", { to: customer, body: "Your order has been shipped." });
  const { id: message_id, conversation_id } = sent.data;
  await step("sends Ada a message and waits until it is delivered", async () => {
    const message = await until(
      () => callTool("get_message", { conversation_id, message_id }),
      ({ data }) => data.status === "delivered",
    );
    return `${message.data.status} at ${message.data.delivered_at}`;
  });
  await step("Ada answers", async () => {
    await writeAs(customer, "Wonderful, thank you!");
  });
  await step("the assistant reads the conversation", async () => {
    const { data } = await callTool("list_messages", { conversation_id });
    const lines = data
      .toReversed()
      .map(({ direction, text }) => `${direction === "inbound" ? "Ada" : "we"}: ${text?.body}`);
    return lines.join(" | ");
  });
}

/** The members of a response that the steps use. */
interface Item {
  readonly [field: string]: string | undefined;
  readonly id: string;
}
interface Answer {
  readonly data: Item & (Item & { direction: string; text?: { body: string } })[];
}

async function callTool(name: string, input: Record<string, unknown>): Promise<Answer> {
  const result = await client.callTool({ name, arguments: input });
  if (result.isError) {
    throw new Error(JSON.stringify(result.content));
  }
  return result.structuredContent as unknown as Answer; // the shape of the tools that the demo calls
}

/** The customer's phone is simulated; its controls are HTTP routes. */
async function writeAs(from: string, text: string): Promise<void> {
  const folder = await openDataFolder(dataDir);
  const owner = await folder.owner();
  const answer = await fetch(`${owner?.address}/simulator/inbound`, {
    method: "POST",
    headers: { "content-type": "application/json", "x-api-key": await folder.credential() },
    body: JSON.stringify({ from, text }),
  });
  if (!answer.ok) {
    throw new Error(await answer.text());
  }
}

async function until<Result>(
  read: () => Promise<Result>,
  isDone: (result: Result) => boolean,
): Promise<Result> {
  for (;;) {
    const result = await read();
    if (isDone(result)) {
      return result;
    }
    await sleep(50);
  }
}

async function step(name: string, run: () => Promise<unknown>): Promise<void> {
  const started = performance.now();
  const result = await run();
  const ms = Math.round(performance.now() - started);
  const at = Math.round(started - begin);
  console.log(`${String(at).padStart(6)} ms  ${name} (${ms} ms)`);
  if (typeof result === "string") {
    console.log(`${" ".repeat(11)}${result}`);
  }
}
