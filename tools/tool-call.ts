/** Finds a tool and reads its arguments. Every way to call a tool has the same checks in the same order. */
import {
  missingScope,
  type Operation,
  permits,
  readArguments,
  type Scope,
  type ToolMapping,
  toolMappingsOf,
  withLocalField,
} from "./contract/index.ts";
import { fail } from "./errors.ts";
import { type AllowedOperations, requireOperation } from "./rule-operations.ts";

export interface ToolRequest {
  readonly name: string;
  readonly arguments: Readonly<Record<string, unknown>>;
  /** The scopes of the caller. Undefined while they are unknown: then only the service checks them. */
  readonly scopes: ReadonlySet<Scope> | undefined;
  /** The operations that rules allow. Undefined while they are unknown. */
  readonly allowed?: AllowedOperations | undefined;
  /** The setting that hides a tool; undefined if the tool is not hidden. */
  hiddenBy(tool: string): string | undefined;
  /** Whether the arguments may name files on this machine. */
  readonly isLocal?: boolean;
}

export interface ToolInput {
  /** The operation's name. */
  readonly name: string;
  readonly operation: Operation;
  readonly mapping: ToolMapping;
  /** The input of the operation, with the local field if the arguments contain it. */
  readonly input: Record<string, unknown>;
}

/**
 * @throws Failure `tool_not_found`, `tool_hidden`, `insufficient_scope`, `not_allowed_by_rules`,
 *   `invalid_request`, `unknown_argument`.
 */
export type ReadToolInput = (request: ToolRequest) => ToolInput;

export function createToolReader(operations: Readonly<Record<string, Operation>>): ReadToolInput {
  const tools = new Map(
    Object.entries(operations).flatMap(([name, operation]) =>
      Object.entries(toolMappingsOf(name, operation)).map(
        ([tool, mapping]) => [tool, { name, operation, mapping }] as const,
      ),
    ),
  );
  return ({ name, arguments: sent, scopes, allowed = null, hiddenBy, isLocal = false }) => {
    const tool = tools.get(name);
    if (!tool) {
      throw fail("tool_not_found", { value: name });
    }
    requireShownTool(name, hiddenBy);
    const { scope, plansTool } = tool.operation;
    // Checked before the arguments are read, so that a missing scope is reported first, as on every route.
    if (scopes && !permits(scopes, scope)) {
      throw fail("insufficient_scope", missingScope(scope));
    }
    requireOperation(allowed, tool.name);
    const mapping = isLocal ? withLocalField(tool.mapping) : tool.mapping;
    const input = readArguments(mapping, sent);
    const planned = plansTool === undefined ? undefined : input[plansTool];
    if (typeof planned === "string") {
      requireShownTool(planned, hiddenBy);
    }
    return { ...tool, input };
  };
}

/** @throws Failure `tool_hidden`. */
function requireShownTool(name: string, hiddenBy: ToolRequest["hiddenBy"]): void {
  const setting = hiddenBy(name);
  if (setting !== undefined) {
    throw fail("tool_hidden", { value: name, setting });
  }
}
