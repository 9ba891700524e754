/** Locks runs with their contacts and conversations, and reads what their steps need. */
import { together } from "../../../../database/transaction.ts";
import type { OrganizationChange, Transaction, World } from "../../../foundation/kernel/index.ts";
import { type LockedSubject, lockSubjects, type Subject } from "../../../inbox/conversations/index.ts";
import { createSwitchOffJob, heldScopes, lostScopes } from "../authority/index.ts";
import { type Graph, toGraph } from "../graph/index.ts";
import { clearWork } from "./machine.ts";
import { type ChangedRun, lockRuns, type RunKey, type RunRow, storeRuns } from "./rows.ts";
import {
  type InboundText,
  type RunVersion,
  readInboundTexts,
  readLatestInbound,
  readRunVersions,
} from "./subject.ts";

/** A run that may take steps: locked, with its contact and its conversation. */
export interface BegunRun extends Subject {
  readonly run: RunRow;
  readonly version: RunVersion;
  readonly graph: Graph;
  /** The message that started the run, or the latest reply in it. */
  readonly message: InboundText | undefined;
  /** The id of the contact's latest message, if the run may wait for a reply. */
  readonly latestMessage: string | null;
  readonly change: OrganizationChange;
}

/** `idle`: the run waits, has ended, or was cancelled here. `locked`: see `waitsForLocks`. */
export type Beginning = BegunRun | "idle" | "locked";

interface Options {
  readonly organization: string;
  readonly keys: readonly RunKey[];
  /** If false, runs that another transaction has locked do not begin. They can't be told from erased runs. */
  readonly waitsForLocks: boolean;
}

/**
 * Locks runs of one organization, each with another contact. Runs that may not continue are cancelled.
 * @returns the beginnings, in the order of `keys`.
 */
export async function beginRuns(
  tx: Transaction,
  world: World,
  { organization, keys, waitsForLocks }: Options,
): Promise<readonly Beginning[]> {
  const ids = keys.map(({ run_id }) => run_id);
  const [subjectOf, runs] = await together(
    lockSubjects(tx, organization, { subjects: keys, waitsForLocks }),
    lockRuns(tx, organization, { ids, waitsForLocks }),
  );
  const change = { tx, world, now: world.now(), organization };
  const running = [...runs.values()].filter(({ status }) => status === "running");
  const partsOf = await readParts(change, running);
  await switchOffUnauthorized(tx, running, partsOf);
  const cancelled: ChangedRun[] = [];
  const beginnings = keys.map((key): Beginning => {
    const run = runs.get(key.run_id);
    const subject = subjectOf(key);
    if (!waitsForLocks && !(run && subject.contact && subject.conversation)) {
      return "locked";
    }
    if (run?.status !== "running") {
      return "idle";
    }
    const begun = begin(run, subject, partsOf(run));
    if (typeof begun === "string") {
      cancelled.push({ run, state: { ...clearWork(run), status: "cancelled", reason: begun } });
      return "idle";
    }
    return { ...begun, change: { ...change, actor: actorOf(run, begun.version) } };
  });
  if (cancelled.length > 0) {
    await storeRuns(change, organization, cancelled);
  }
  return beginnings;
}

/** What is read of a run apart from its subject. */
interface RunParts extends Pick<BegunRun, "message" | "latestMessage"> {
  readonly version: RunVersion | undefined;
  readonly graph: Graph | undefined;
}

/** Returns the function that returns the parts of one of these runs. */
async function readParts(
  { tx, organization }: Pick<OrganizationChange, "tx" | "organization">,
  runs: readonly RunRow[],
): Promise<(run: RunRow) => RunParts> {
  const messageIds = runs.flatMap(({ message_id }) => message_id ?? []);
  const interactive = runs.filter(({ is_interactive }) => is_interactive);
  const conversationIds = interactive.map(({ conversation_id }) => conversation_id);
  const [versionOf, messages, latest] = await together(
    readRunVersions(tx, organization, runs),
    readInboundTexts(tx, organization, messageIds),
    readLatestInbound(tx, organization, conversationIds),
  );
  const graphs = new Map<RunVersion, Graph>();
  const graphOf = (version: RunVersion) => {
    const graph = graphs.get(version) ?? toGraph(version.nodes);
    graphs.set(version, graph);
    return graph;
  };
  return (run) => {
    const version = versionOf(run);
    return {
      version,
      graph: version && graphOf(version),
      message: messages.get(run.message_id),
      latestMessage: latest.get(run.conversation_id) ?? null,
    };
  };
}

/** Returns the reason of a run that may not continue. */
function begin(
  run: RunRow,
  { contact, conversation, channel }: LockedSubject,
  { version, graph, ...messages }: RunParts,
): Omit<BegunRun, "change"> | string {
  if (!contact || !conversation || !channel) {
    return "contact_erased";
  }
  if (!version || !graph) {
    return "flow_deleted";
  }
  if (isUnauthorized(version)) {
    return "authority_lost";
  }
  if (contact.blocked_at !== null) {
    return "blocked";
  }
  return { run, version, graph, contact, conversation, channel, ...messages };
}

/**
 * No scope is lost, so the actor has all scopes that the flow was saved with. If an earlier version saved the
 * flow, it has none.
 */
function actorOf({ flow_id }: RunRow, version: RunVersion) {
  return { type: "flow", id: flow_id, name: version.name, scopes: new Set(heldScopes(version)) } as const;
}

const isUnauthorized = (version: RunVersion) => lostScopes(version).length > 0;

/** Also the flow of a run that is cancelled for another reason. */
async function switchOffUnauthorized(
  tx: Transaction,
  runs: readonly RunRow[],
  partsOf: (run: RunRow) => RunParts,
): Promise<void> {
  const unauthorized = runs.filter((run) => {
    const { version } = partsOf(run);
    return version !== undefined && isUnauthorized(version);
  });
  const byFlow = new Map(unauthorized.map((run) => [run.flow_id, run]));
  await tx.enqueue([...byFlow.values()].map(createSwitchOffJob));
}
