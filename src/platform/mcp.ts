/** The tool list and the call of a tool over REST, for those who speak no MCP. */
import { mcp as contract } from "../../tools/mcp.ts";
import { implement } from "./kernel/index.ts";

export const mcp = implement(contract, {
  operations: {
    async list_mcp_tools(_, { tools }) {
      return { data: tools.list() };
    },

    async call_mcp_tool({ name, arguments: given }, { tools }) {
      const { data, meta } = await tools.call(name, given);
      return { data, ...(meta === undefined ? {} : { meta }) };
    },
  },
});
