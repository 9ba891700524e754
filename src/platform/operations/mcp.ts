/** Lists and calls MCP tools over REST, for clients without MCP. */
import { mcp as contract } from "../../../tools/mcp.ts";
import { implement } from "../foundation/kernel/index.ts";

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
  },
});
