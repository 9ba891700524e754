/**
 * Runs the commands of the guides: the `sh` blocks of README.md and docs/*.md, in the order of the page.
 * `npm run guides` runs all pages, `npm run guides -- docs/files.md` some.
 *
 * Each page has an organization of its own, in a service with the page's settings, and a shell of its own,
 * so that a block can use the variables of the blocks before it. A page fails when a command does not exit
 * with 0, or when curl gets a status of 400 or more. A block that can't run has a comment that says why.
 */
import { readdir, readFile } from "node:fs/promises";
import { type Block, readBlocks } from "./blocks.ts";
import { createHome } from "./home.ts";
import { runBlocks } from "./page.ts";
import { createPlaceholders } from "./placeholders.ts";
import { startProgram } from "./program.ts";
import { openProxy, type Traffic } from "./proxy.ts";

type Settings = Readonly<Record<string, string>>;

/** How many blocks are not run. It may only shrink: write new blocks so that they run. */
const notRunLimit = 16;
const operatorKey = "o".repeat(32);
const password = "correct-horse-battery";
const accounts: Settings = {
  TIDINGS_OPERATOR_KEY: operatorKey,
  TIDINGS_OWNER_EMAIL: "owner@example.com",
  TIDINGS_OWNER_PASSWORD: password,
};
const plain: Settings = {};

const emulatorArgs = ["whatsapp-emulator", "--port", "0"];
await using emulator = await startProgram(emulatorArgs, process.env, /(http:\S+)\/emulator/);
let serviceUrl = "";
let traffic = newExchange();
await using service = await openProxy(
  () => serviceUrl,
  () => traffic,
);
await using controls = await openProxy(
  () => emulator.address,
  () => traffic,
);

/** The settings that a page tells its reader to start the service with. */
const settingsOf: Readonly<Record<string, Settings>> = {
  "docs/operator.md": { TIDINGS_SANDBOX_CLOCK: "on" },
  "docs/whatsapp.md": {
    TIDINGS_PUBLIC_URL: `http://${service.address}`,
    TIDINGS_WHATSAPP_BASE_URL: emulator.address,
  },
};

const counts = { run: 0, notRun: 0 };
const chosen = process.argv.slice(2);
const pages = chosen.length > 0 ? chosen : await findPages();
for (const settings of new Set(pages.map(settingsFor))) {
  await runPages(
    pages.filter((page) => settingsFor(page) === settings),
    settings,
  );
}
console.log(`\n${counts.run} blocks run, ${counts.notRun} not run`);
if (chosen.length === 0 && counts.notRun !== notRunLimit) {
  console.error(`The limit of blocks that are not run is ${notRunLimit}. It may only shrink.`);
  process.exitCode = 1;
}

async function findPages(): Promise<readonly string[]> {
  const guides = (await readdir("docs")).filter((file) => file.endsWith(".md"));
  return ["README.md", ...guides.map((file) => `docs/${file}`)];
}

function settingsFor(page: string): Settings {
  return settingsOf[page] ?? plain;
}

async function runPages(names: readonly string[], settings: Settings): Promise<void> {
  await using home = await createHome();
  const env = { ...home.env, ...accounts };
  const limits = { TIDINGS_LOG_LEVEL: "error", TIDINGS_RATE_LIMIT: "1000", TIDINGS_RATE_BURST: "1000" };
  const own = { ...env, ...limits, ...settings, PORT: "0" };
  await using program = await startProgram(["serve"], own, /MCP +(http:\S+)\/mcp/);
  serviceUrl = program.address;
  for (const name of names) {
    const blocks = readBlocks(await readFile(name, "utf8"));
    const { key, owner } = await createOrganization(name);
    traffic = newExchange(owner);
    const output = await runBlocks(
      { name, blocks },
      {
        folder: home.checkout,
        env,
        key,
        addresses: { 3000: service.address, 4004: controls.address },
      },
    );
    report(name, blocks, output);
  }
}

function report(name: string, blocks: readonly Block[], output: string | undefined): void {
  const run = blocks.filter(({ notRun }) => notRun === undefined).length;
  counts.run += run;
  counts.notRun += blocks.length - run;
  if (output === undefined && traffic.failures.length === 0) {
    console.log(`${name}: ${run} of ${blocks.length}`);
    return;
  }
  console.error([`\n${name} failed`, output ?? "", ...traffic.failures].join("\n"));
  process.exitCode = 1;
}

interface Owner {
  readonly owner_email: string;
  readonly owner_password: string;
}

async function createOrganization(page: string): Promise<{ readonly key: string; readonly owner: Owner }> {
  const owner = { owner_email: `${page.replace(/\W/g, ".")}@example.com`, owner_password: password };
  const answer = await fetch(new URL("/operator/v1/organizations", serviceUrl), {
    method: "POST",
    headers: { "content-type": "application/json", "x-api-key": operatorKey },
    body: JSON.stringify({
      name: page,
      owner: { email: owner.owner_email, name: "Owner", password },
    }),
  });
  const { data } = (await answer.json()) as { data: { api_key: { secret_key: string } } };
  return { key: data.api_key.secret_key, owner };
}

function newExchange(owner?: Owner): Traffic {
  return { placeholders: createPlaceholders({ password, ...owner }), failures: [] };
}
