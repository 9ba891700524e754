/** Records one call: its effect in its own transaction, else its refusal. */
import { Failure } from "../../../../../../tools/contract/index.ts";
import { newId } from "../../../../../database/id.ts";
import {
  type ActAgent,
  type CallRecord,
  noOrganization,
  type RecordedAct,
  type RecordedCall,
} from "./act.ts";
import { idsIn, redactInput } from "./redact.ts";

/** Refusals that say nothing about the call: it may be sent again as it is. */
const unrecorded: readonly number[] = [429, 503];

/** Errors that an inner call has recorded. */
const recordedErrors = new WeakSet<object>();

export function createCallRecord(call: RecordedCall, caller: ActAgent | null): CallRecord {
  const { acts, name, operation, tool, now } = call;
  const startedAt = performance.now();
  const isRead = operation.effect === "read" || (operation.effect === "public" && operation.method === "GET");
  let { input } = call;
  let agent = caller;
  let isWritten = false;
  let isDeferred = false;

  const toAct: CallRecord["toAct"] = ({ status, body }) => {
    if (!agent) {
      return undefined;
    }
    const { type, id, name: agent_name, session_id } = agent;
    const ids = idsIn(input, isRead ? null : body);
    return {
      organization_id: organizationOf(agent, ids),
      id: newId("act", now),
      created_at: now.toISOString(),
      agent_type: type,
      agent_id: id,
      agent_name,
      session_id,
      operation: name,
      tool: tool ?? null,
      arguments: redactInput(operation, input),
      status,
      error: null,
      budget: null,
      duration_ms: Math.round(performance.now() - startedAt),
      ids,
    };
  };
  const add = (act: RecordedAct | undefined) => act && acts.add(act);

  return {
    identify(who) {
      agent = who;
    },
    read(received) {
      input = received;
    },
    toAct,
    writeWith(tx, response) {
      const act = toAct(response);
      // Not called again by a later attempt of a transaction that was rolled back: its rows are gone too.
      acts.writeWith(tx, act ? [act] : []);
      isWritten = true;
    },
    holdWith(tx, response, failure) {
      const act = toAct(response);
      acts.writeWith(tx, act ? [{ ...act, ...errorOf(failure) }] : []);
      isWritten = true;
    },
    defer() {
      isDeferred = true;
    },
    end(response) {
      if (operation.effect === "delegated" || response.isReplay) {
        return;
      }
      if (!isRead || tool !== undefined) {
        const isDone = isWritten || (operation.effect !== "public" && !isDeferred);
        if (isRead || !isDone) {
          add(toAct(response));
        }
      } else if (agent) {
        acts.countRead(agent, name, now);
      }
    },
    fail(error) {
      const status = error instanceof Failure ? error.status : 500;
      const isRefusal = !isRead || tool !== undefined;
      const isReplay = error instanceof Failure && error.isReplay;
      if (!isRefusal || isReplay || unrecorded.includes(status) || wasRecorded(error)) {
        return;
      }
      const act = toAct({ status, body: null });
      add(act && { ...act, ...errorOf(error) });
    },
  };
}

function errorOf(error: unknown): Pick<RecordedAct, "error" | "budget"> {
  return error instanceof Failure
    ? { error: error.code, budget: error.detail.budget ?? null }
    : { error: "internal", budget: null };
}

/** Whether an inner call has recorded the error; from now on, it has. */
function wasRecorded(error: unknown): boolean {
  if (typeof error !== "object" || error === null) {
    return false;
  }
  const known = recordedErrors.has(error);
  recordedErrors.add(error);
  return known;
}

/** An act of the operator belongs to the organization that it is about. */
function organizationOf({ type, organization_id }: ActAgent, ids: readonly string[]): string {
  return type === "operator" ? (ids.find((id) => id.startsWith("org_")) ?? noOrganization) : organization_id;
}
