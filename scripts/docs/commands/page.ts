/** Runs the blocks of one page in one shell, against an organization of their own. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { text } from "node:stream/consumers";
import type { Block } from "./blocks.ts";

const limitMs = 180_000;

interface Page {
  readonly name: string;
  readonly blocks: readonly Block[];
}

interface Shell {
  /** The folder that the commands run in. */
  readonly folder: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** What the key and the ports that the pages name stand for. */
  readonly key: string;
  readonly addresses: Readonly<Record<string, string>>;
}

/** curl leaves an ellipsis in a query as it is, which servers reject before the proxy could fill it. */
const prelude = `exec 2>&1
curl() {
  local argument arguments=()
  for argument; do
    case $argument in 127.0.0.1:*|http:*) argument=\${argument//…/%E2%80%A6} ;; esac
    arguments+=("$argument")
  done
  command curl "\${arguments[@]}"
}
`;

/** The output up to the command that failed; undefined if all commands exit with 0. */
export async function runBlocks({ name, blocks }: Page, shell: Shell): Promise<string | undefined> {
  const script = blocks
    .filter(({ notRun }) => notRun === undefined)
    .map(({ line, commands }) => `echo; echo '== ${name}:${line}'\n${adapt(commands, shell)}\n`);
  const bash = spawn("bash", ["-euo", "pipefail", "-c", prelude + script.join("")], {
    cwd: shell.folder,
    // npx installs what it runs without asking.
    env: { ...shell.env, KEY: shell.key, npm_config_yes: "true" },
    stdio: ["ignore", "pipe", "inherit"],
    detached: true,
  });
  // Its group: a command that runs on would keep the output open.
  const timer = setTimeout(() => process.kill(-(bash.pid ?? 0), "SIGKILL"), limitMs);
  const [output, [code]] = await Promise.all([text(bash.stdout), once(bash, "exit")]);
  clearTimeout(timer);
  return code === 0 ? undefined : output;
}

/** The service of the runner has another port and another key than the reader's. */
function adapt(commands: string, { key, addresses }: Shell): string {
  return commands
    .replace(/\b(?:localhost|127\.0\.0\.1):(\d+)\b/g, (found, port) => addresses[port] ?? found)
    .replaceAll("sk_live_…", key);
}
