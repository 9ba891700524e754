/**
 * Runs the lines of deploy/Dockerfile without a container engine: on exactly the files that .dockerignore
 * lets through, with this machine's Node, in temporary folders in place of those of the image.
 *
 * Then starts the image's command with the image's settings, and waits until its health check passes. Lines
 * that need root or a container (USER, VOLUME, EXPOSE, the commands for folders outside /app) do not run.
 */
import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { cp, mkdir, mkdtemp, readFile, rm, stat } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";

interface Stage {
  readonly folder: string;
  /** The settings of its ENV lines. */
  readonly env: Record<string, string>;
  healthCheck: readonly string[];
  command: readonly string[];
}

/** How long the service may take to become healthy. */
const startLimitMs = 60_000;

const run = promisify(execFile);
const root = await mkdtemp(join(tmpdir(), "tidings-image-"));
try {
  const context = await copyContext();
  const stages: Stage[] = [];
  for (const line of await readLines("deploy/Dockerfile")) {
    await runLine(line, stages, context);
  }
  const image = stages.at(-1);
  if (!image?.command[0]) {
    throw new Error("deploy/Dockerfile has no command");
  }
  await checkHealth(image);
} finally {
  await rm(root, { recursive: true, force: true });
}

/** The lines without comments; continued lines are one. */
async function readLines(file: string): Promise<readonly string[]> {
  const text = (await readFile(file, "utf8")).replaceAll("\\\n", "");
  return text.split("\n").filter((line) => line.trim() !== "" && !line.startsWith("#"));
}

async function copyContext(): Promise<string> {
  const folder = join(root, "context");
  const [first, ...others] = await readLines(".dockerignore");
  if (first !== "*" || others.some((line) => !line.startsWith("!"))) {
    throw new Error(".dockerignore must exclude everything (*), and then name what it includes (!)");
  }
  for (const line of others) {
    await cp(line.slice(1), join(folder, line.slice(1)), { recursive: true });
  }
  return folder;
}

async function runLine(line: string, stages: Stage[], context: string): Promise<void> {
  const [instruction = "", ...words] = line.trim().split(/\s+/);
  const rest = words.join(" ");
  const stage = stages.at(-1);
  if (instruction === "FROM") {
    const folder = join(root, `stage-${stages.length}`);
    await mkdir(folder);
    stages.push({ folder, env: {}, healthCheck: [], command: [] });
  } else if (!stage) {
    throw new Error(`Nothing may stand before FROM: ${line}`);
  } else if (instruction === "COPY") {
    await copy(words, stage, stages[0]?.folder ?? "", context);
  } else if (instruction === "RUN" && !rest.includes(" /")) {
    console.log(`RUN ${rest}`);
    const build = spawn("bash", ["-ec", rest], { cwd: stage.folder, stdio: "inherit" });
    const [code] = await once(build, "exit");
    if (code !== 0) {
      throw new Error(`RUN ${rest} ended with ${code}`);
    }
  } else if (instruction === "ENV") {
    Object.assign(stage.env, Object.fromEntries(words.map((word) => word.split("=", 2))));
  } else if (instruction === "HEALTHCHECK") {
    stage.healthCheck = readCommand(rest.slice(rest.indexOf("CMD") + 3));
  } else if (instruction === "CMD") {
    stage.command = readCommand(rest);
  }
}

/** Copies from the context, or with `--from` from the first stage, whose folder is /app there. */
async function copy(words: readonly string[], stage: Stage, built: string, context: string): Promise<void> {
  const isBuilt = words[0]?.startsWith("--from=") ?? false;
  const paths = isBuilt ? words.slice(1) : words;
  const target = join(stage.folder, paths.at(-1) ?? "");
  for (const path of paths.slice(0, -1)) {
    const source = isBuilt ? join(built, path.replace(/^\/app\//, "")) : join(context, path);
    // As Docker does: a file goes into the folder, and of a folder what it has.
    const isFile = (await stat(source)).isFile();
    await cp(source, isFile ? join(target, basename(path)) : target, {
      recursive: true,
      verbatimSymlinks: true,
    });
  }
}

function readCommand(json: string): readonly string[] {
  return JSON.parse(json) as readonly string[];
}

async function checkHealth({ folder, env, command, healthCheck }: Stage): Promise<void> {
  const port = await findFreePort();
  const settings = { ...process.env, ...env, HOST: "127.0.0.1", PORT: String(port) };
  const [program = "", ...args] = command;
  const service = spawn(
    process.execPath,
    // The image links the command to this file.
    [program === "tidings" ? "dist/tidings.js" : program, ...args],
    { cwd: folder, env: { ...settings, TIDINGS_DATA_DIR: join(root, "data") }, stdio: "inherit" },
  );
  try {
    await untilHealthy(service, healthCheck, settings);
    console.log("The service of the image is healthy.");
  } finally {
    if (service.exitCode === null) {
      service.kill("SIGTERM");
      await once(service, "exit");
    }
  }
}

async function untilHealthy(service: ChildProcess, check: readonly string[], env: NodeJS.ProcessEnv) {
  const [program = "", ...args] = check;
  for (const endsAt = Date.now() + startLimitMs; Date.now() < endsAt; await sleep(500)) {
    if (service.exitCode !== null) {
      throw new Error(`The service ended with ${service.exitCode}`);
    }
    const isHealthy = await run(program, args, { env }).then(
      () => true,
      () => false,
    );
    if (isHealthy) {
      return;
    }
  }
  throw new Error(`The service was not healthy within ${startLimitMs / 1000} s`);
}

async function findFreePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  server.close();
  await once(server, "close");
  return typeof address === "object" && address ? address.port : 0;
}
