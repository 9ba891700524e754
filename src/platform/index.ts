/** The platform: all modules connected with their jobs, events and channels. */

import { type Operation, toolMappingsOf } from "../../tools/contract/index.ts";
import { fail } from "../../tools/errors.ts";
import { catalogue } from "../../tools/index.ts";
import type { Database } from "../database/database.ts";
import { createHold, NoAnswerError } from "../database/outage/index.ts";
import type { Enqueuer, JobDefinition } from "../jobs/job.ts";
import { createJobs, type RunningJobs } from "../jobs/jobs.ts";
import { Processes, type SharedUse } from "../jobs/processes/index.ts";
import type { ChannelCallbacks } from "../ports/channel/channel.ts";
import type { TemplateAuthorityCallbacks } from "../ports/channel/template-authority.ts";
import type { PaymentCallbacks } from "../ports/payments.ts";
import type {
  BodyKind,
  CredentialRequest,
  HttpRequest,
  HttpRoute,
  RouteWithBody,
} from "../ports/transport/http-route.ts";
import { withDeadline } from "../time/deadline.ts";
import type { SharedClock } from "../time/shared-clock.ts";
import { apiKeys } from "./account/api-keys/index.ts";
import { auth, authenticate } from "./account/auth/index.ts";
import { inboxes } from "./account/inboxes/index.ts";
import { organization } from "./account/organization/index.ts";
import { rules } from "./account/rules/index.ts";
import { users } from "./account/users.ts";
import { broadcasts } from "./automation/broadcasts/index.ts";
import { chatbot } from "./automation/chatbot/index.ts";
import { cohorts } from "./automation/cohorts/index.ts";
import { flows } from "./automation/flows/index.ts";
import { imports } from "./automation/imports/index.ts";
import { webhooks } from "./automation/webhooks/index.ts";
import { knowledgeBase } from "./content/knowledge-base/index.ts";
import { quickReplies } from "./content/quick-replies.ts";
import { requestSync, templates } from "./content/templates/index.ts";
import { uploads } from "./content/uploads/index.ts";
import {
  type Call,
  type Caller,
  connectModules,
  createCall,
  createKernelJobs,
  type EventRecorder,
  type Module,
  type ModuleJob,
  runForCaller,
  sealedResponses,
  Transaction,
  throwDatabaseFailure,
  type World,
} from "./foundation/kernel/index.ts";
import type { SealedColumn } from "./foundation/sealing/index.ts";
import { contacts } from "./inbox/contacts/index.ts";
import { conversations } from "./inbox/conversations/index.ts";
import { messages, receiveChange, receiveMessage, receiveReceipts } from "./inbox/messages/index.ts";
import { notes } from "./inbox/notes.ts";
import { routing } from "./inbox/routing/index.ts";
import { teams } from "./inbox/teams/index.ts";
import { billing } from "./money/billing/index.ts";
import { payments, receivePaymentWebhook } from "./money/payments/index.ts";
import { prices } from "./money/prices/index.ts";
import { pricing } from "./money/pricing/index.ts";
import { wallet } from "./money/wallet/index.ts";
import { activity } from "./operations/activity/index.ts";
import { clock } from "./operations/clock.ts";
import { ledger } from "./operations/ledger/index.ts";
import { mcp } from "./operations/mcp.ts";
import { operator } from "./operations/operator/index.ts";
import { plans } from "./operations/plans/index.ts";

/** Every implemented module, by the name of its file in `tools/`, in the catalogue's order. */
export const modules: Modules = {
  contacts,
  conversations,
  messages,
  notes,
  "quick-replies": quickReplies,
  templates,
  cohorts,
  broadcasts,
  users,
  teams,
  routing,
  inboxes,
  flows,
  chatbot,
  "knowledge-base": knowledgeBase,
  uploads,
  imports,
  webhooks,
  billing,
  payments,
  wallet,
  ledger,
  pricing,
  organization,
  "api-keys": apiKeys,
  auth,
  plans,
  activity,
  rules,
  mcp,
};

/** The modules of the service's operator. None of their operations is a tool. */
export const operatorModules: Modules = { operator, prices, clock };

/** Every column that holds sealed values. */
export const sealedColumns: readonly SealedColumn[] = [
  sealedResponses,
  ...Object.values(modules).flatMap(({ sealed }) => sealed),
];

export type Modules = Readonly<Record<string, Module>>;

export interface Platform {
  readonly call: Call;
  /** Runs the work of a request that is not an operation; `organization` is null without a caller. */
  readonly runFor: typeof runForCaller;
  /** @throws Failure `credential_invalid`. */
  authenticate(credential: string): Promise<Caller>;
  /** The modules' routes that are not operations. */
  readonly routes: readonly HttpRoute[];
  /** Where channels deliver inbound messages and receipts. */
  readonly callbacks: ChannelCallbacks;
  readonly jobs: RunningJobs;
  /** The use of rate limits, shared with the other processes of the database. */
  readonly sharedUse: SharedUse;
  /** The record of acts: `start` writes counts while the app runs, `stop` writes what is left. */
  readonly acts: Pick<ReturnType<typeof connectModules>["acts"], "start" | "stop">;
  /** Throws if the database can't be used. */
  checkDatabase(): Promise<void>;
}

/**
 * The parts that `createPlatform` gets from outside; the other members of `World` follow from the modules.
 */
export interface PlatformParts
  extends Omit<
    World,
    | "database"
    | "jobs"
    | "channels"
    | "payments"
    | "hooks"
    | "plannedCalls"
    | "acts"
    | "erasers"
    | "jobsKeptByErasure"
    | "tools"
  > {
  readonly database: Database;
  /** Default: all modules. */
  readonly enabledModules?: Modules;
  /** How long a request is held while the database fails over, in milliseconds; default 0. */
  readonly databaseWaitMs?: number;
  /** How many jobs of one lane run at once in this process. */
  readonly concurrency?: number;
  readonly instruments?: Instruments;
  /** The clock behind `now`; undefined if it follows no database. */
  readonly sharedClock?: SharedClock | undefined;
  /** Opens the channels and the payment processor. They call `callbacks`, and may have jobs of their own. */
  openChannels(
    callbacks: Callbacks,
    enqueue: Enqueuer,
  ): Pick<World, "channels" | "payments"> & {
    readonly jobs: readonly JobDefinition[];
  };
}

/** The functions that the channels and the payment processor call. */
export type Callbacks = ChannelCallbacks & TemplateAuthorityCallbacks & PaymentCallbacks;

/** Wraps calls and jobs with telemetry. */
export interface Instruments {
  call(call: Call): Call;
  enqueuer(insert: Enqueuer): Enqueuer;
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
    databaseWaitMs = 0,
    concurrency,
    instruments = noInstruments,
    openChannels,
    sharedClock,
    ...outside
  } = parts;
  const { database, now, log } = outside;
  const callbacks: Callbacks = {
    onMessage: (message) => receiveMessage(world, message),
    onChange: (change) => receiveChange(world, change),
    onReceipts: (receipts) => receiveReceipts(world, receipts),
    onTemplatesChanged: (notices) => requestSync(world, notices),
    onPaymentWebhook: (request) => receivePaymentWebhook(world, request),
  };
  const { jobs: channelJobs, ...reached } = openChannels(callbacks, (tx, newJobs) =>
    jobs.enqueue(tx, newJobs),
  );
  const moduleList = [...Object.values(enabledModules), ...Object.values(operatorModules)];
  const moduleJobs = jobsOf(enabledModules);
  const definitions = [...moduleJobs.map((job) => toJobDefinition(job, () => world)), ...channelJobs].map(
    (job) => instruments.job(job),
  );
  const processes = new Processes({
    database,
    now,
    log,
    isAlone: database.engine === "embedded",
    clock: sharedClock,
  });
  const jobs = createJobs({
    database,
    now,
    definitions,
    log,
    processes,
    instrument: instruments.enqueuer,
    ...(concurrency && { concurrency }),
  });
  const transactionParts = { jobs, now, recorders: recordersOf(enabledModules) };
  const tenantDatabase = database.withTransactions((props) => new Transaction(props, transactionParts));
  const hold = createHold(database, databaseWaitMs);
  const connected = connectModules(moduleList, { database: tenantDatabase, now, log });
  const world: World = {
    ...outside,
    ...reached,
    database: tenantDatabase,
    jobs,
    ...connected,
    erasers: moduleList.map(({ erase }) => erase),
    jobsKeptByErasure: moduleJobs.filter(({ isKeptByErasure }) => isKeptByErasure).map(({ name }) => name),
    tools: toolsOf(enabledModules),
  };
  return {
    call: instruments.call(
      createCall(moduleList, { catalogue: operationsOf(enabledModules, true), world, hold }),
    ),
    runFor: runForCaller,
    authenticate: (credential) =>
      hold
        .run({ owner: credential, size: () => credential.length }, () => authenticate(world, credential))
        .catch(throwDatabaseFailure),
    routes: moduleList.flatMap(({ routes }) => routes.map((route) => bindRoute(route, world))),
    callbacks,
    jobs,
    sharedUse: processes.sharedUse,
    acts: connected.acts,
    checkDatabase: () => checkDatabase(world, processes).catch(throwDatabaseFailure),
  };
}

/** Checks the last heartbeat. If the process writes none, sends a query. */
async function checkDatabase({ database }: World, { isBeating }: Processes): Promise<void> {
  database.damaged.throwIfAborted();
  if (isBeating === false) {
    throw fail("unavailable", { reason: "the last heartbeat could not be written to the database." });
  }
  if (isBeating === undefined) {
    await requireAnswer(database.queries.selectFrom("settings").select("name").limit(1).execute());
  }
}

/** The oldest heartbeat that counts. */
const readyLimitMs = 3_500;

async function requireAnswer(query: Promise<unknown>): Promise<void> {
  await withDeadline(readyLimitMs, [], async ({ within, signal }) => {
    await within(query).catch((error: unknown) => {
      throw signal.aborted ? new NoAnswerError("The database did not answer in time.") : error;
    });
  });
}

const noInstruments: Instruments = {
  call: (call) => call,
  enqueuer: (insert) => insert,
  job: (job) => job,
};

/**
 * Every operation of these modules by name, in the catalogue's order, and the operator's operations if there
 * is an operator key.
 */
export function operationsOf(
  enabledModules: Modules = modules,
  hasOperator = false,
): Readonly<Record<string, Operation>> {
  const offered = { ...enabledModules, ...(hasOperator ? operatorModules : {}) };
  const operations = Object.values(offered).flatMap(({ contract }) => Object.entries(contract));
  const places = new Map(Object.keys(catalogue).map((name, place) => [name, place]));
  const placeOf = ([name]: [string, Operation]) => places.get(name) ?? places.size;
  return Object.fromEntries(operations.sort((one, other) => placeOf(one) - placeOf(other)));
}

/** Every tool of these modules, by name, with the operation that it calls. */
export function toolsOf(enabledModules: Modules = modules): ReadonlyMap<string, Operation> {
  return new Map(
    Object.entries(operationsOf(enabledModules)).flatMap(([name, operation]) =>
      Object.keys(toolMappingsOf(name, operation)).map((tool) => [tool, operation] as const),
    ),
  );
}

/** The recorders that run in the transaction of every event. */
function recordersOf(enabledModules: Modules): readonly EventRecorder[] {
  return Object.values(enabledModules).flatMap(({ recordEvents }) => recordEvents ?? []);
}

/** Every job of these modules, and the kernel's own. */
export function jobsOf(enabledModules: Modules): ModuleJob[] {
  const moduleJobs = Object.values(enabledModules).flatMap(({ jobs }) => jobs);
  return [...moduleJobs, ...createKernelJobs(Object.values(enabledModules))];
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
    ? {
        ...route,
        async requireTarget(params: HttpRequest<Body>["params"]) {
          await route.requireTarget?.(params, world).catch(throwDatabaseFailure);
        },
        handle: (request: HttpRequest<Body>) => route.handle(request, world).catch(throwDatabaseFailure),
      }
    : {
        ...route,
        handle: (request: CredentialRequest<Body>) =>
          route.handle(request, world).catch(throwDatabaseFailure),
      };
}
