/** Lists and calls MCP tools over REST, for clients without MCP; records calls that MCP servers reject. */
import type { Operation } from "../../../tools/contract/index.ts";
import { type ErrorCode, errors, fail } from "../../../tools/errors.ts";
import { catalogue } from "../../../tools/index.ts";
import { mcp as contract, maxRejectionsPerMinute } from "../../../tools/mcp.ts";
import { implement, type ReadContext, type World } from "../foundation/kernel/index.ts";

export const mcp = implement(contract, {
  operations: {
    async list_mcp_tools(_, { tools }) {
      const data = tools.list();
      return { data, meta: { total: data.length } };
    },

    async call_mcp_tool({ name, arguments: input }, { tools }) {
      const { data, meta } = await tools.call(name, input);
      return { data, ...(meta === undefined ? {} : { meta }) };
    },

    async report_rejected_call(rejected, context) {
      const recorded = countRejection(context);
      if (recorded) {
        recordRejection(rejected, context);
      }
      return { data: { recorded } };
    },
  },
});

const names: ReadonlyMap<Operation, string> = new Map(
  Object.entries<Operation>(catalogue).map(([name, operation]) => [operation, name]),
);

/** The record has names of tools, but no texts that somebody may have written in their place. */
const nameOfTool = /^[a-z_]{1,64}$/;

/** Without arguments, which may be of any form. A call of an unknown tool is one of `call_mcp_tool`. */
function recordRejection(
  { tool, code }: { readonly tool: string; readonly code: string },
  { world, caller, now }: ReadContext,
): void {
  const operation = world.tools.get(tool) ?? contract.call_mcp_tool;
  const name = names.get(operation) ?? "call_mcp_tool";
  const shown = nameOfTool.test(tool) ? tool : undefined;
  const record = world.acts.begin({ name, operation, tool: shown, input: {}, now }, caller);
  record.fail(fail(isErrorCode(code) ? code : "invalid_request"));
}

/** Errors of the service itself are no rejections. */
function isErrorCode(code: string): code is ErrorCode {
  return Object.hasOwn(errors, code) && errors[code as ErrorCode].status < 500; // checked before
}

interface Counted {
  readonly minute: number;
  readonly counts: Map<string, number>;
}

const counted = new WeakMap<World, Counted>();

/** Whether another rejected call of the credential may be recorded in this minute. */
function countRejection({ world, caller, now }: ReadContext): boolean {
  const minute = Math.floor(now.getTime() / 60_000);
  const before = counted.get(world);
  const { counts } = before?.minute === minute ? before : { counts: new Map<string, number>() };
  counted.set(world, { minute, counts });
  const count = (counts.get(caller.credential.id) ?? 0) + 1;
  counts.set(caller.credential.id, count);
  return count <= maxRejectionsPerMinute;
}
