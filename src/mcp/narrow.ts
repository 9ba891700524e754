/**
 * Which tools are kept from an assistant, beside those that its scopes forbid.
 *
 * The operator's settings are one layer, and a request over HTTP may bring another in its headers. A tool
 * is there if every layer lets it pass: so a request narrows, and never widens. What a layer hides it
 * also refuses, and the refusal names the setting.
 */
import type { IncomingHttpHeaders } from "node:http";
import { type ToolMode, toolModes } from "../../tools/contract/index.ts";
import type { ListedTool } from "./tools.ts";

/** What is asked for: an empty list is none. */
export interface NarrowingSettings {
  readonly toolsets: readonly string[];
  readonly readOnly: boolean;
  readonly allow: readonly string[];
  readonly deny: readonly string[];
  readonly mode: ToolMode;
}

export const noNarrowing: NarrowingSettings = {
  toolsets: [],
  readOnly: false,
  allow: [],
  deny: [],
  mode: "core",
};

type Rule = (tool: ListedTool) => boolean;

/** The settings in force for one request or connection. */
export interface Narrowing {
  /** The same for the same settings. */
  readonly name: string;
  /** Whether tools are found by a search and run by name, in place of being listed. */
  readonly isSearch: boolean;
  readonly isReadOnly: boolean;
  /** The operator's mode, which no request can widen. */
  readonly mode: ToolMode;
  /** The setting that hides a tool; undefined if it is there. */
  hiddenBy(tool: ListedTool): string | undefined;
}

/** A setting names something that does not exist, or is no value of its own: a sentence that says so. */
export class NarrowingError extends Error {
  override readonly name = "NarrowingError";
}

/** What a setting is called, for whoever set it. */
interface Names {
  readonly toolsets: string;
  readonly readOnly: string;
  readonly allow: string;
  readonly deny: string;
  readonly mode: string;
}

const settingNames: Names = {
  toolsets: "TIDINGS_TOOLSETS",
  readOnly: "TIDINGS_READ_ONLY",
  allow: "TIDINGS_TOOLS_ALLOW",
  deny: "TIDINGS_TOOLS_DENY",
  mode: "TIDINGS_TOOL_MODE",
};

const headerNames: Names = {
  toolsets: "X-Tidings-Toolsets",
  readOnly: "X-Tidings-Read-Only",
  allow: "X-Tidings-Tools-Allow",
  deny: "X-Tidings-Tools-Deny",
  mode: "X-Tidings-Tool-Mode",
};

/** The operator's settings. @throws NarrowingError */
export function createNarrowing(tools: readonly ListedTool[], settings: NarrowingSettings): Narrowing {
  const { mode, readOnly } = settings;
  return {
    name: JSON.stringify(settings),
    isSearch: mode === "search",
    isReadOnly: readOnly,
    mode,
    hiddenBy: firstThatHides(rulesOf(tools, settings, settingNames)),
  };
}

/** The operator's settings with those of a request's headers. @throws NarrowingError */
export function narrowFurther(
  tools: readonly ListedTool[],
  outer: Narrowing,
  headers: IncomingHttpHeaders,
): Narrowing {
  const asked = readHeaders(headers);
  if (!asked) {
    return outer;
  }
  // "all" is what there is without a further layer: under an operator who says less it changes nothing.
  const mode = asked.mode ?? "all";
  const rules = rulesOf(tools, { ...asked, mode }, headerNames);
  const hides = firstThatHides(rules);
  return {
    name: `${outer.name} ${JSON.stringify(asked)}`,
    isSearch: mode === "search" || (outer.isSearch && mode !== "core"),
    isReadOnly: outer.isReadOnly || asked.readOnly,
    mode: outer.mode,
    hiddenBy: (tool) => outer.hiddenBy(tool) ?? hides(tool),
  };
}

function firstThatHides(rules: readonly (readonly [name: string, admits: Rule])[]) {
  return (tool: ListedTool) => rules.find(([, admits]) => !admits(tool))?.[0];
}

/** @throws NarrowingError for a name that does not exist. */
function rulesOf(
  tools: readonly ListedTool[],
  { toolsets, readOnly, allow, deny, mode }: NarrowingSettings,
  names: Names,
): (readonly [string, Rule])[] {
  const knownTools = tools.map(({ name }) => name);
  const ofToolset = readNames(toolsets, [...new Set(tools.map((tool) => tool.toolset))], names.toolsets);
  const allowed = readNames(allow, knownTools, names.allow);
  const denied = readNames(deny, knownTools, names.deny);
  const rules: (readonly [string, Rule, boolean])[] = [
    [names.deny, ({ name }) => !denied.has(name), denied.size > 0],
    [names.readOnly, isRead, readOnly],
    [names.allow, ({ name }) => allowed.has(name), allowed.size > 0],
    [names.toolsets, ({ toolset }) => ofToolset.has(toolset), ofToolset.size > 0],
    // A tool that is allowed by name is wanted, whatever its tier.
    [names.mode, ({ name, isCore }) => isCore || allowed.has(name), mode === "core"],
  ];
  return rules.flatMap(([name, admits, isSet]) => (isSet ? [[name, admits] as const] : []));
}

export function isRead({ wire }: ListedTool): boolean {
  return wire.annotations?.readOnlyHint === true;
}

function readNames(given: readonly string[], known: readonly string[], setting: string): Set<string> {
  const names = given.map((name) => name.toLowerCase());
  if (names.some((name) => !known.includes(name))) {
    throw new NarrowingError(`${setting} takes names of: ${known.join(", ")}.`);
  }
  return new Set(names);
}

/** Undefined when no header narrows anything. */
function readHeaders(
  headers: IncomingHttpHeaders,
): (Omit<NarrowingSettings, "mode"> & { readonly mode: ToolMode | undefined }) | undefined {
  const textOf = (name: string) => String(headers[name.toLowerCase()] ?? "").trim();
  const listOf = (name: string) =>
    textOf(name)
      .split(",")
      .flatMap((item) => item.trim() || []);
  const { toolsets, readOnly, allow, deny, mode } = headerNames;
  if (Object.values(headerNames).every((name) => textOf(name) === "")) {
    return undefined;
  }
  return {
    toolsets: listOf(toolsets),
    readOnly: readBoolean(textOf(readOnly)),
    allow: listOf(allow),
    deny: listOf(deny),
    mode: readMode(textOf(mode)),
  };
}

function readBoolean(text: string): boolean {
  if (!/^(?:true|false|1|0|)$/i.test(text)) {
    throw new NarrowingError(`${headerNames.readOnly} takes true or false.`);
  }
  return /^(?:true|1)$/i.test(text);
}

function readMode(text: string): ToolMode | undefined {
  const mode = toolModes.find((one) => one === text.toLowerCase());
  if (mode === undefined && text !== "") {
    throw new NarrowingError(`${headerNames.mode} takes one of ${toolModes.join(", ")}.`);
  }
  return mode;
}
