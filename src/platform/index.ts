/** The platform: its modules put together, given a world, and offered as one thing to call. */
import type { EventName } from "../../tools/events.ts";
import type { Operation } from "../../tools/operation.ts";
import { formsOf } from "../../tools/tool.ts";
import type { JobDefinition } from "../jobs/job.ts";
import type { ChannelEars } from "../ports/channel.ts";
import { apiKeys } from "./api-keys.ts";
import { auth } from "./auth.ts";
import { contacts } from "./contacts/index.ts";
import { conversations } from "./conversations/index.ts";
import { authenticate } from "./core/authenticate.ts";
import { type Call, createCall } from "./core/call.ts";
import { forgetAnswers } from "./core/idempotency.ts";
import type { Listeners, Module, Work } from "./core/module.ts";
import type { Caller, Recorder, World } from "./core/world.ts";
import { imports } from "./imports/index.ts";
import { inboxes } from "./inboxes.ts";
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
  /** A file for whoever has its link. @throws Failure `link_invalid`, `file_not_found`. */
  openFile(request: FileRequest): Promise<OpenedFile>;
  /** Where channels deliver what they hear. */
  readonly ears: ChannelEars;
}

export function createPlatform(world: World, built: Modules = modules): Platform {
  return {
    call: createCall(Object.values(built), world),
    authenticate: (credential) => authenticate(world, credential),
    openFile: (request) => openFile(world, request),
    ears: {
      inbound: (message) => receiveMessage(world, message),
      receipts: (receipts) => receiveReceipts(world, receipts),
    },
  };
}

/** The engine's definitions of every job and listener; the world is asked for when one runs. */
export function defineJobs(world: () => World, built: Modules = modules): JobDefinition[] {
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
): Work<never> {
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
