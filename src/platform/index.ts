/** The platform: its modules put together, given a world, and offered as one thing to call. */

import { formsOf, type Operation } from "../../tools/contract/index.ts";
import type { EventName } from "../../tools/events.ts";
import type { JobDefinition, Jobs } from "../jobs/job.ts";
import { createJobs, type RunningJobs } from "../jobs/jobs.ts";
import type { ChannelEars } from "../ports/channel.ts";
import { apiKeys } from "./api-keys.ts";
import { auth } from "./auth.ts";
import { contacts } from "./contacts/index.ts";
import { conversations } from "./conversations/index.ts";
import { authenticate } from "./identity/index.ts";
import { imports } from "./imports/index.ts";
import { inboxes } from "./inboxes.ts";
import {
  type Call,
  type Caller,
  createCall,
  forgetAnswers,
  type Listeners,
  type Module,
  type ModuleJob,
  type Recorder,
  type World,
} from "./kernel/index.ts";
import { mcp } from "./mcp.ts";
import { messages, receiveMessage, receiveReceipts } from "./messages/index.ts";
import { quickReplies } from "./quick-replies.ts";
import { routing } from "./routing/index.ts";
import { teams } from "./teams.ts";
import { type FileRequest, type OpenedFile, openFile, uploads } from "./uploads/index.ts";
import { users } from "./users.ts";
import { webhooks } from "./webhooks/index.ts";

/** Every module that is built, under the name of its file in the catalogue and in its order. */
export const modules: Modules = {
  contacts,
  conversations,
  messages,
  "quick-replies": quickReplies,
  users,
  teams,
  routing,
  inboxes,
  uploads,
  imports,
  webhooks,
  "api-keys": apiKeys,
  auth,
  mcp,
};

export type Modules = Readonly<Record<string, Module>>;

/** Every operation that these modules have, by name. */
export function operationsOf(built: Modules = modules): Readonly<Record<string, Operation>> {
  return Object.assign({}, ...Object.values(built).map(({ contract }) => contract));
}

/** Every tool that these modules offer, by name, with the operation that it calls. */
export function toolsOf(built: Modules = modules): ReadonlyMap<string, Operation> {
  return new Map(
    Object.entries(operationsOf(built)).flatMap(([name, operation]) =>
      Object.keys(formsOf(name, operation)).map((tool) => [tool, operation] as const),
    ),
  );
}

export interface Platform {
  readonly call: Call;
  /** @throws Failure `credential_invalid`. */
  authenticate(credential: string): Promise<Caller>;
  /** A file for a signed link. @throws Failure `link_invalid`, `file_not_found`. */
  openFile(request: FileRequest): Promise<OpenedFile>;
  /** Where channels deliver inbound messages and receipts. */
  readonly ears: ChannelEars;
  readonly jobs: RunningJobs;
}

/** Wraps calls and jobs with telemetry. */
export interface Instruments {
  call(call: Call): Call;
  enqueue(enqueue: Jobs["enqueue"]): Jobs["enqueue"];
  job(job: JobDefinition): JobDefinition;
}

/** What the platform is given; the rest of its world follows from the modules. */
export interface PlatformParts
  extends Omit<World, "jobs" | "channels" | "listeners" | "recorders" | "tools"> {
  /** All by default. */
  readonly built?: Modules;
  /** Jobs of one lane at once in this process. */
  readonly concurrency?: number;
  readonly instruments?: Instruments;
  /** Opens the channels, which deliver to `ears` and may have jobs of their own. */
  openChannels(
    ears: ChannelEars,
    enqueue: Jobs["enqueue"],
  ): { readonly channels: World["channels"]; readonly jobs: readonly JobDefinition[] };
}

/** Puts modules, channels and jobs together, each of which calls the others. */
export function createPlatform(parts: PlatformParts): Platform {
  const { built = modules, concurrency, instruments, openChannels, ...given } = parts;
  const { database, now, log } = given;
  const ears: ChannelEars = {
    inbound: (message) => receiveMessage(world, message),
    receipts: (receipts) => receiveReceipts(world, receipts),
  };
  const opened = openChannels(ears, (tx, ...added) => jobs.enqueue(tx, ...added));
  const definitions = [...defineJobs(() => world, built), ...opened.jobs].map(
    (job) => instruments?.job(job) ?? job,
  );
  const engine = createJobs({ database, now, definitions, log, ...(concurrency && { concurrency }) });
  const jobs = { ...engine, enqueue: instruments?.enqueue(engine.enqueue) ?? engine.enqueue };
  const world: World = {
    ...given,
    jobs,
    channels: opened.channels,
    listeners: listenersOf(built),
    recorders: recordersOf(built),
    tools: toolsOf(built),
  };
  const call = createCall(Object.values(built), world);
  return {
    call: instruments?.call(call) ?? call,
    authenticate: (credential) => authenticate(world, credential),
    openFile: (request) => openFile(world, request),
    ears,
    jobs,
  };
}

/** The engine's definitions of every job and listener; the world is asked for when one runs. */
function defineJobs(world: () => World, built: Modules = modules): JobDefinition[] {
  const work = Object.entries(built).flatMap(([name, module]) => [
    ...module.jobs,
    ...Object.entries(module.on).map(([event, listen]) => listening(name, event as EventName, listen)),
  ]);
  return [...work, forgetAnswers].map(({ run, exhausted, ...rest }) => ({
    ...rest,
    // A payload was written by the module that reads it.
    run: (payload, attempt) => run(payload as never, world(), attempt),
    ...(exhausted ? { exhausted: (payload, error) => exhausted(payload as never, world(), error) } : {}),
  }));
}

/** Which jobs listen to which event. */
export function listenersOf(built: Modules = modules): ReadonlyMap<EventName, readonly string[]> {
  const map = new Map<EventName, string[]>();
  for (const [name, module] of Object.entries(built)) {
    for (const event of Object.keys(module.on) as EventName[]) {
      map.set(event, [...(map.get(event) ?? []), listenerName(name, event)]);
    }
  }
  return map;
}

/** Who writes of each event in its own transaction. */
export function recordersOf(built: Modules = modules): readonly Recorder[] {
  return Object.values(built).flatMap(({ record }) => record ?? []);
}

function listening<Name extends EventName>(
  module: string,
  event: Name,
  listen: NonNullable<Listeners[Name]>,
): ModuleJob<never> {
  return {
    name: listenerName(module, event),
    async run(payload, world, attempt) {
      await listen(payload, world, attempt);
      return undefined;
    },
  };
}

/** Durable: a job that waits in the table under this name is found again by a later version. */
function listenerName(module: string, event: EventName): string {
  return `${module}:${event}`;
}
