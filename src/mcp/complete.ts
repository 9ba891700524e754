/**
 * Completes what somebody begins to type: contacts by name or number, conversations by the latest, templates by
 * name. An argument without a list that its caller may call has no completion.
 */
import type { CompleteRequestParams, CompleteResult } from "@modelcontextprotocol/server";
import { type McpCaller, type Perform, viewerOf } from "./call.ts";
import type { ToolList } from "./list.ts";

/** Which list knows the values of an argument, and which field of its items they are. */
interface Source {
  readonly tool: string;
  readonly value: "id" | "name";
  ask(typed: string): Readonly<Record<string, unknown>>;
}

const sources: Readonly<Record<string, Source>> = {
  "tidings://contacts/{id} id": {
    tool: "list_contacts",
    value: "id",
    ask: (typed) => (typed.trim() === "" || isId(typed) ? {} : { search: typed }),
  },
  "tidings://conversations/{id} id": { tool: "list_conversations", value: "id", ask: () => ({}) },
  "answer_customer conversation_id": {
    tool: "list_conversations",
    value: "id",
    ask: () => ({ filter: "unanswered" }),
  },
  "plan_broadcast template": {
    tool: "list_templates",
    value: "name",
    ask: (typed) => ({ status: "approved", ...(typed.trim() === "" ? {} : { search: typed }) }),
  },
};

interface Parts {
  readonly list: ToolList;
  readonly perform: Perform;
}

const nothing: CompleteResult = { completion: { values: [], total: 0, hasMore: false } };

export async function complete(
  { list, perform }: Parts,
  caller: McpCaller,
  { ref, argument }: CompleteRequestParams,
  signal: AbortSignal,
): Promise<CompleteResult> {
  await caller.ready?.();
  const source = sources[`${ref.type === "ref/resource" ? ref.uri : ref.name} ${argument.name}`];
  const reachable = list.reachable(viewerOf(caller));
  const tool = reachable.find(({ name }) => name === source?.tool);
  if (!source || !tool) {
    return nothing;
  }
  const outcome = await perform(tool, caller, { arguments: source.ask(argument.value), signal });
  return outcome.trouble ? nothing : choose(source, argument.value, outcome.answer);
}

/** Whether the service has a list that anything could be completed from. */
export function canComplete(list: ToolList): boolean {
  return Object.values(sources).some(({ tool }) => list.find(tool));
}

/** The protocol's limit. */
const mostValues = 100;

function choose({ value }: Source, typed: string, answer: object): CompleteResult {
  const { data, meta } = answer as { data?: unknown; meta?: { total?: unknown } | null };
  // Another service may answer anything.
  const items: Partial<Record<string, unknown>>[] = Array.isArray(data) ? data : [];
  const found = new Set(items.flatMap((item) => (typeof item?.[value] === "string" ? [item[value]] : [])));
  const isMeant = (text: string) => value !== "id" || !isId(typed) || text.startsWith(typed);
  const values = [...found].filter(isMeant).slice(0, mostValues);
  const total = Number.isSafeInteger(meta?.total) ? Number(meta?.total) : items.length;
  return { completion: { values, total, hasMore: total > values.length } };
}

function isId(typed: string): boolean {
  return /^(?:con|conv)_/.test(typed);
}
