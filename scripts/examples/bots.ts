/**
 * Checks a bot: of two customers, the one whose question the knowledge base answers gets the answer, and the
 * other one nothing.
 *
 * The bot's packages are installed in a folder of their own. It is compiled in strict mode, and runs with a
 * Node from the registry, because it needs a later one than the service.
 */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { cp, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { createClient, operations } from "../../src/client/package.ts";
import type { BuiltService } from "../conformance/service.ts";
import { createCustomer } from "./customer.ts";
import { startScriptedModel } from "./scripted-model.ts";

export interface Bot {
  /** Of the folder in examples/. */
  readonly name: string;
  /** Of the two customers. */
  readonly numbers: readonly [string, string];
}

const run = promisify(execFile);
const question = "Do you have a shop in Berlin?";
const answer = "Yes: Torstrasse 1, Monday to Saturday from 10 to 19.";
const tools = ["get_conversation_context", "list_conversations", "search_knowledge_base", "send_message"];

/** @throws AssertionError, or Error if a program fails. */
export async function checkBot(service: BuiltService, { name, numbers }: Bot): Promise<void> {
  const client = createClient({ baseUrl: service.url, key: service.key });
  const { data: pair } = await client.call(operations.add_qa_pair, { question, answer });
  // The scopes that the README of each bot names.
  const scopes = ["inbox:read", "inbox:write"] as const;
  const { data: access } = await client.call(operations.create_api_key, { name, scopes: [...scopes] });
  const [asking, other] = numbers.map((number) => createCustomer(service, number));
  assert(asking && other);
  await asking.write(question);
  await other.write("Can I bring my llama?");

  await using model = await startScriptedModel();
  const folder = await mkdtemp(join(tmpdir(), "tidings-bot-"));
  try {
    await cp(join("examples", name), folder, { recursive: true });
    await runBot(folder, {
      TIDINGS_BASE_URL: service.url,
      TIDINGS_API_KEY: access.secret_key,
      OPENAI_BASE_URL: model.url,
      OPENAI_API_KEY: "scripted",
    });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
  assert.deepEqual([...model.offered()].sort(), tools);
  await asking.untilAnswered();
  assert.deepEqual(await asking.received(), [answer]);
  assert.deepEqual(await other.received(), []);
  // The next bot has a knowledge base without the pair.
  await client.call(operations.delete_qa_pair, { id: pair.id });
  await client.close();
}

async function runBot(folder: string, settings: Readonly<Record<string, string>>): Promise<void> {
  const options = { cwd: folder, env: { ...process.env, ...settings }, timeout: 120_000 };
  const install = [
    "--no-audit",
    "--no-fund",
    "--ignore-scripts",
    "--engine-strict=false",
    "--loglevel=error",
  ];
  await run("npm", ["install", ...install], options);
  const types = ["--types", "node", "--typeRoots", resolve("node_modules/@types"), "--skipLibCheck"];
  const compile = ["--strict", "--target", "es2023", "--module", "nodenext", "--noEmit", "main.ts"];
  await run(resolve("node_modules/.bin/tsc"), ["--ignoreConfig", ...types, ...compile], options);
  await run("npx", ["-y", "-p", "node@24", "node", "main.ts"], options);
}
