/**
 * Names the tools that the service of this version implements, of all that the catalogue declares.
 *
 * The build replaces this module by its value, as it does with the tool definitions, so that listing tools
 * does not load the service. It may therefore export only JSON.
 */
import { toolNames } from "../../tools/contract/index.ts";
import { operationsOf } from "../platform/index.ts";

/** The tools that the embedded service offers, by name. */
export const embeddedTools: readonly string[] = toolNames(operationsOf());
