/**
 * Checks the addresses and headers of nodes when they are saved. The address is checked again before each
 * call.
 */
import type { World } from "../../../foundation/kernel/index.ts";
import { configField, readNodeConfig } from "../checks/validate.ts";
import type { Graph, Problem } from "../graph/index.ts";
import { handlerOf } from "../nodes/index.ts";

export function checkRequests({ web }: Pick<World, "web">, { nodes }: Graph): Problem[] {
  return nodes.flatMap((node) => {
    const { config } = readNodeConfig(node);
    const request = config === undefined ? undefined : handlerOf(node.node_type).requests?.(config);
    const forbidden = request && web.check(request.url, request.headers);
    if (!forbidden) {
      return [];
    }
    const isHeader = forbidden.reason === "header";
    return [
      {
        field: `${configField(node)}.${isHeader ? "headers" : "url"}`,
        code: isHeader ? "header_refused" : "address_refused",
        message: forbidden.detail,
        fix: isHeader ? "Leave out this header." : "Send a public https address.",
      },
    ];
  });
}
