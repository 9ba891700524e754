/** Completes an id that somebody begins to type: contacts by name or number, conversations by the latest. */
import type { CompleteRequestParams, CompleteResult } from "@modelcontextprotocol/server";
import type { McpCaller, Perform } from "./call.ts";
import type { ToolList } from "./list.ts";

/** Which list knows the values of an argument. */
const sources: Readonly<
  Record<string, (typed: string) => { tool: string; arguments: Record<string, unknown> }>
> = {
  "tidings://contacts/{id} id": (typed) => ({
    tool: "list_contacts",
    arguments: typed.trim() === "" || typed.startsWith("con_") ? {} : { search: typed },
  }),
  "tidings://conversations/{id} id": () => ({ tool: "list_conversations", arguments: {} }),
  "answer_customer conversation_id": () => ({
    tool: "list_conversations",
    arguments: { filter: "unanswered" },
  }),
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
  const name = ref.type === "ref/resource" ? ref.uri : ref.name;
  const source = sources[`${name} ${argument.name}`]?.(argument.value);
  const reachable = list.reachable({ scopes: caller.scopes(), narrowing: caller.narrowing });
  const tool = reachable.find((one) => one.name === source?.tool);
  if (!source || !tool) {
    return nothing;
  }
  const outcome = await perform(tool, caller, { arguments: source.arguments, signal });
  if (outcome.trouble) {
    return nothing;
  }
  const { data, meta } = outcome.answer as { data: { id: string }[]; meta: { total: number } }; // both are lists
  const isId = /^(?:con|conv)_/.test(argument.value);
  const values = data.map(({ id }) => id).filter((id) => !isId || id.startsWith(argument.value));
  return { completion: { values, total: meta.total, hasMore: meta.total > values.length } };
}
