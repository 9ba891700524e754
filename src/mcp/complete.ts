/**
 * Completes arguments of prompts and resources: contacts by name or number, the latest conversations,
 * templates and cohorts by name. An argument has no completion if its caller may not call the list tool.
 */
import type { CompleteRequestParams, CompleteResult } from "@modelcontextprotocol/server";
import { type ExecuteTool, type McpCaller, visibilityOf } from "./tool-call/index.ts";
import type { ToolList } from "./tool-list/index.ts";

/** The list tool that has the values of an argument, and the field of its items. */
interface CompletionSource {
  readonly tool: string;
  readonly field: "id" | "name";
  argumentsFor(typed: string): Readonly<Record<string, unknown>>;
}

const sources: Readonly<Record<string, CompletionSource>> = {
  "tidings://contacts/{id} id": {
    tool: "list_contacts",
    field: "id",
    argumentsFor: (typed) => (typed.trim() === "" || isId(typed) ? {} : { search: typed }),
  },
  "tidings://conversations/{id} id": { tool: "list_conversations", field: "id", argumentsFor: () => ({}) },
  "answer_customer conversation_id": {
    tool: "list_conversations",
    field: "id",
    argumentsFor: () => ({ filter: "unanswered" }),
  },
  "plan_broadcast cohort": {
    tool: "list_cohorts",
    field: "name",
    argumentsFor: (typed) => (typed.trim() === "" ? {} : { search: typed }),
  },
  "plan_broadcast template": {
    tool: "list_templates",
    field: "name",
    argumentsFor: (typed) => ({ status: "approved", ...(typed.trim() === "" ? {} : { search: typed }) }),
  },
};

interface Dependencies {
  readonly list: ToolList;
  readonly executeTool: ExecuteTool;
}

const emptyCompletion: CompleteResult = { completion: { values: [], total: 0, hasMore: false } };

export async function complete(
  { list, executeTool }: Dependencies,
  caller: McpCaller,
  { ref, argument }: CompleteRequestParams,
  signal: AbortSignal,
): Promise<CompleteResult> {
  await caller.waitForAccess?.();
  const source = sources[`${ref.type === "ref/resource" ? ref.uri : ref.name} ${argument.name}`];
  const reachable = list.callable(visibilityOf(caller));
  const tool = reachable.find(({ name }) => name === source?.tool);
  if (!source || !tool) {
    return emptyCompletion;
  }
  const outcome = await executeTool(tool, caller, { arguments: source.argumentsFor(argument.value), signal });
  return outcome.failure ? emptyCompletion : toCompletion(source, argument.value, outcome.answer);
}

/** Whether the service has a list tool for any completion. */
export function canComplete(list: ToolList): boolean {
  return Object.values(sources).some(({ tool }) => list.find(tool));
}

/** The limit of the protocol. */
const maxValues = 100;

function toCompletion({ field }: CompletionSource, typed: string, answer: object): CompleteResult {
  // Every member is checked below: the service may not be Tidings.
  const { data, meta } = answer as { data?: unknown; meta?: { total?: unknown } | null };
  const items: Partial<Record<string, unknown>>[] = Array.isArray(data) ? data : [];
  const distinct = new Set(items.flatMap((item) => (typeof item?.[field] === "string" ? [item[field]] : [])));
  const isMatch = (text: string) => field !== "id" || !isId(typed) || text.startsWith(typed);
  const values = [...distinct].filter(isMatch).slice(0, maxValues);
  const total = Number.isSafeInteger(meta?.total) ? Number(meta?.total) : items.length;
  return { completion: { values, total, hasMore: total > values.length } };
}

function isId(typed: string): boolean {
  return /^(?:con|conv)_/.test(typed);
}
