/** The platform: all modules connected with their jobs, events and channels. */

import { type Operation, toolMappingsOf } from "../../tools/contract/index.ts";
import { type Event, type EventName, events } from "../../tools/events.ts";
import type { JobDefinition, Jobs } from "../jobs/job.ts";
import { createJobs, type RunningJobs } from "../jobs/jobs.ts";
import type { ChannelCallbacks } from "../ports/channel.ts";
import type {
  BodyKind,
  CredentialRequest,
  HttpRequest,
  HttpRoute,
  RouteWithBody,
} from "../ports/http-route.ts";
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
  deleteExpiredResponsesJob,
  type EventRecorder,
  type Listeners,
  type Module,
  type ModuleJob,
  type World,
} from "./kernel/index.ts";
import { mcp } from "./mcp.ts";
import { messages, receiveMessage, receiveReceipts } from "./messages/index.ts";
import { quickReplies } from "./quick-replies.ts";
import { routing } from "./routing/index.ts";
import { teams } from "./teams.ts";
import { uploads } from "./uploads/index.ts";
import { users } from "./users.ts";
import { webhooks } from "./webhooks/index.ts";

/** Every implemented module, by the name of its file in `tools/`, in the catalogue's order. */
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

export interface Platform {
  readonly call: Call;
  /** @throws Failure `credential_invalid`. */
  authenticate(credential: string): Promise<Caller>;
  /** The modules' routes that are not operations. */
  readonly routes: readonly HttpRoute[];
  /** Where channels deliver inbound messages and receipts. */
  readonly callbacks: ChannelCallbacks;
  readonly jobs: RunningJobs;
}

/** What `createPlatform` needs from outside; the other members of `World` follow from the modules. */
export interface PlatformParts
  extends Omit<World, "jobs" | "channels" | "listeners" | "recorders" | "tools"> {
  /** Default: all. */
  readonly enabledModules?: Modules;
  /** How many jobs of one lane run at once in this process. */
  readonly concurrency?: number;
  readonly instruments?: Instruments;
  /** Opens the channels. They report to `callbacks` and may have jobs of their own. */
  openChannels(
    callbacks: ChannelCallbacks,
    enqueue: Jobs["enqueue"],
  ): { readonly channels: World["channels"]; readonly jobs: readonly JobDefinition[] };
}

/** Wraps calls and jobs with telemetry. */
export interface Instruments {
  call(call: Call): Call;
  enqueue(enqueue: Jobs["enqueue"]): Jobs["enqueue"];
  job(job: JobDefinition): JobDefinition;
}

/**
 * Connects modules, channels and jobs. They refer to each other: jobs run with the world, the world holds the
 * jobs and the channels, and channels call back into the modules. So the callbacks and jobs below read
 * `world` only when they run, after this function has assigned it.
 */
export function createPlatform(parts: PlatformParts): Platform {
  const {
    enabledModules = modules,
    concurrency,
    instruments = noInstruments,
    openChannels,
    ...outside
  } = parts;
  const { database, now, log } = outside;
  const callbacks: ChannelCallbacks = {
    onMessage: (message) => receiveMessage(world, message),
    onReceipts: (receipts) => receiveReceipts(world, receipts),
  };
  const { channels, jobs: channelJobs } = openChannels(callbacks, (tx, ...newJobs) =>
    jobs.enqueue(tx, ...newJobs),
  );
  const moduleJobs = jobsOf(enabledModules).map((job) => toJobDefinition(job, () => world));
  const definitions = [...moduleJobs, ...channelJobs].map((job) => instruments.job(job));
  const engine = createJobs({ database, now, definitions, log, ...(concurrency && { concurrency }) });
  const jobs = { ...engine, enqueue: instruments.enqueue(engine.enqueue) };
  const world: World = {
    ...outside,
    jobs,
    channels,
    listeners: listenersOf(enabledModules),
    recorders: recordersOf(enabledModules),
    tools: toolsOf(enabledModules),
  };
  return {
    call: instruments.call(createCall(Object.values(enabledModules), world)),
    authenticate: (credential) => authenticate(world, credential),
    routes: Object.values(enabledModules).flatMap(({ routes }) =>
      routes.map((route) => bindRoute(route, world)),
    ),
    callbacks,
    jobs,
  };
}

const noInstruments: Instruments = {
  call: (call) => call,
  enqueue: (enqueue) => enqueue,
  job: (job) => job,
};

/** Every operation of these modules, by name. */
export function operationsOf(enabledModules: Modules = modules): Readonly<Record<string, Operation>> {
  return Object.assign({}, ...Object.values(enabledModules).map(({ contract }) => contract));
}

/** Every tool of these modules, by name, with the operation that it calls. */
export function toolsOf(enabledModules: Modules = modules): ReadonlyMap<string, Operation> {
  return new Map(
    Object.entries(operationsOf(enabledModules)).flatMap(([name, operation]) =>
      Object.keys(toolMappingsOf(name, operation)).map((tool) => [tool, operation] as const),
    ),
  );
}

/** The names of the listener jobs of each event. */
function listenersOf(enabledModules: Modules): ReadonlyMap<EventName, readonly string[]> {
  const jobNames = new Map<EventName, string[]>();
  for (const [name, module] of Object.entries(enabledModules)) {
    for (const event of listenedEvents(module)) {
      jobNames.set(event, [...(jobNames.get(event) ?? []), listenerJobName(name, event)]);
    }
  }
  return jobNames;
}

/** The recorders that run in the transaction of every event. */
function recordersOf(enabledModules: Modules): readonly EventRecorder[] {
  return Object.values(enabledModules).flatMap(({ recordEvents }) => recordEvents ?? []);
}

/** Every job of these modules, their listeners' included, and the kernel's own. */
function jobsOf(enabledModules: Modules): ModuleJob[] {
  const moduleJobs = Object.entries(enabledModules).flatMap(([name, module]) => [
    ...module.jobs,
    ...listenedEvents(module).map((event) => createListenerJob(name, event, module.on[event])),
  ]);
  return [...moduleJobs, deleteExpiredResponsesJob];
}

function toJobDefinition({ run, exhausted, ...job }: ModuleJob, world: () => World): JobDefinition {
  return {
    ...job,
    run: (payload, attempt) => run(payload, world(), attempt),
    ...(exhausted ? { exhausted: (payload, error) => exhausted(payload, world(), error) } : {}),
  };
}

function bindRoute<Body extends BodyKind>(
  route: RouteWithBody<Body, [World]>,
  world: World,
): RouteWithBody<Body> {
  return route.credential === "none"
    ? { ...route, handle: (request: HttpRequest<Body>) => route.handle(request, world) }
    : { ...route, handle: (request: CredentialRequest<Body>) => route.handle(request, world) };
}

function createListenerJob<Name extends EventName>(
  module: string,
  event: Name,
  listen: Listeners[Name],
): ModuleJob<Event<Name>> {
  return {
    name: listenerJobName(module, event),
    async run(payload, world, attempt) {
      await listen?.(payload, world, attempt);
      return undefined;
    },
  };
}

function listenedEvents({ on }: Module): EventName[] {
  return Object.keys(on).filter((name): name is EventName => Object.hasOwn(events, name));
}

/** Must not change: waiting jobs are stored under this name, and a later version must find them. */
function listenerJobName(module: string, event: EventName): string {
  return `${module}:${event}`;
}
