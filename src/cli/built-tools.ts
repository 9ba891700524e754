/**
 * What the service of this very version has, of all that the catalogue declares.
 *
 * A build puts this module's value in its place, as it does for the tools, so that a list of them loads
 * no service: it exports JSON and nothing else.
 */
import { toolNames } from "../../tools/contract/index.ts";
import { operationsOf } from "../platform/index.ts";

/** The tools that the embedded service offers, by name. */
export const builtTools: readonly string[] = toolNames(operationsOf());
