/**
 * Lists the tools of the catalogue that the service of this version implements.
 *
 * The build replaces this module by its value, like the tool definitions, so that listing tools does not load
 * the service. So it may export only JSON.
 */
import { toolNames } from "../../tools/contract/index.ts";
import { operationsOf } from "../platform/index.ts";

/** The tools that the embedded service offers, by name. */
export const embeddedTools: readonly string[] = toolNames(operationsOf());
