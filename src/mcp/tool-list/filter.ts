/**
 * Filters tools by settings, in addition to the scopes of the credential.
 *
 * The operator's settings are one layer, the headers of a request over HTTP another. A tool is available if
 * every layer allows it, so headers can restrict the settings but not extend them. A hidden tool can't be
 * called either; the error names the setting.
 */
import type { IncomingHttpHeaders } from "node:http";
import { nearestName, type ToolMode, type ToolTier, toolModes } from "../../../tools/contract/index.ts";
import type { ListedTool } from "./definitions.ts";

/** An empty list means no restriction. */
export interface ToolFilterSettings {
  readonly toolsets: readonly string[];
  readonly readOnly: boolean;
  readonly allow: readonly string[];
  readonly deny: readonly string[];
  readonly mode: ToolMode;
}

export const defaultToolFilterSettings: ToolFilterSettings = {
  toolsets: [],
  readOnly: false,
  allow: [],
  deny: [],
  mode: "core",
};

type FilterRule = (tool: ListedTool) => boolean;

/** The settings in force for one request or connection. */
export interface ToolFilter {
  /** Equal for equal settings. */
  readonly cacheKey: string;
  readonly mode: ToolMode;
  /** The setting that hides a tool; undefined if none does. */
  hiddenBy(tool: ListedTool): string | undefined;
  /** Whether the list has a tool that is not hidden. */
  lists(tool: ListedTool): boolean;
}

/** A setting has an unknown name or an invalid value. */
export class ToolFilterError extends Error {
  override readonly name = "ToolFilterError";
}

/** The names of the settings in one layer, for error messages. */
interface SettingNames {
  readonly toolsets: string;
  readonly readOnly: string;
  readonly allow: string;
  readonly deny: string;
}

const settingNames: SettingNames = {
  toolsets: "TIDINGS_TOOLSETS",
  readOnly: "TIDINGS_READ_ONLY",
  allow: "TIDINGS_TOOLS_ALLOW",
  deny: "TIDINGS_TOOLS_DENY",
};

const headerNames = {
  toolsets: "X-Tidings-Toolsets",
  readOnly: "X-Tidings-Read-Only",
  allow: "X-Tidings-Tools-Allow",
  deny: "X-Tidings-Tools-Deny",
  mode: "X-Tidings-Tool-Mode",
} as const satisfies SettingNames & { readonly mode: string };

/** The layer of the operator's settings. @throws ToolFilterError */
export function createToolFilter(tools: readonly ListedTool[], settings: ToolFilterSettings): ToolFilter {
  const { mode, allow } = settings;
  return {
    cacheKey: JSON.stringify(settings),
    mode,
    hiddenBy: findHidingSetting(createRules(tools, settings, settingNames)),
    lists: listedBy(mode, allow),
  };
}

/**
 * The layer of the operator's settings, and for tool calls over REST the setting that hides a tool by name.
 * There the mode does not apply: it chooses which tools fill an assistant's context, and disables none.
 * @throws ToolFilterError
 */
export function createToolFilters(tools: readonly ListedTool[], settings: ToolFilterSettings) {
  const toolFilter = createToolFilter(tools, settings);
  const find = createHidingLookup(tools);
  return { toolFilter, hiddenBy: (name: string) => find(toolFilter, name) };
}

/** Looks up which setting of a filter hides a tool, by the tool's name. */
export function createHidingLookup(tools: readonly ListedTool[]) {
  const byName = new Map(tools.map((tool) => [tool.name, tool]));
  return (filter: ToolFilter, name: string): string | undefined => {
    const tool = byName.get(name);
    return tool && filter.hiddenBy(tool);
  };
}

/** Combines the operator's filter with the filter of the request's headers. @throws ToolFilterError */
export function restrictByHeaders(
  tools: readonly ListedTool[],
  operatorFilter: ToolFilter,
  headers: IncomingHttpHeaders,
): ToolFilter {
  const requested = readHeaders(headers);
  if (!requested) {
    return operatorFilter;
  }
  const hides = findHidingSetting(createRules(tools, requested, headerNames));
  const mode = narrowest(operatorFilter.mode, requested.mode ?? "all");
  const listsByHeaders = listedBy(mode, requested.allow);
  return {
    cacheKey: `${operatorFilter.cacheKey} ${JSON.stringify(requested)}`,
    mode,
    hiddenBy: (tool) => operatorFilter.hiddenBy(tool) ?? hides(tool),
    lists: (tool) => listsByHeaders(tool) || (mode === operatorFilter.mode && operatorFilter.lists(tool)),
  };
}

/** The one that lists the fewest tools. */
function narrowest(one: ToolMode, other: ToolMode): ToolMode {
  return toolModes[Math.max(toolModes.indexOf(one), toolModes.indexOf(other))] ?? one;
}

const tiersOf: Readonly<Record<ToolMode, readonly ToolTier[]>> = {
  all: ["lean", "core", "extended"],
  core: ["lean", "core"],
  lean: ["lean"],
  search: [],
};

/** A tool that is allowed by name is listed whatever its tier. */
function listedBy(mode: ToolMode, allow: readonly string[]): FilterRule {
  const allowed = new Set(mode === "search" ? [] : allow.map((name) => name.toLowerCase()));
  return ({ name, tier }) => tiersOf[mode].includes(tier) || allowed.has(name);
}

function findHidingSetting(rules: readonly (readonly [name: string, allows: FilterRule])[]) {
  return (tool: ListedTool) => rules.find(([, allows]) => !allows(tool))?.[0];
}

/** @throws ToolFilterError for a name that does not exist. */
function createRules(
  tools: readonly ListedTool[],
  { toolsets, readOnly, allow, deny }: Omit<ToolFilterSettings, "mode">,
  names: SettingNames,
): (readonly [string, FilterRule])[] {
  const knownTools = tools.map(({ name }) => name);
  const ofToolset = readNames(toolsets, [...new Set(tools.map((tool) => tool.toolset))], names.toolsets);
  const allowed = readNames(allow, knownTools, names.allow);
  const denied = readNames(deny, knownTools, names.deny);
  const rules: (readonly [string, FilterRule, boolean])[] = [
    [names.deny, ({ name }) => !denied.has(name), denied.size > 0],
    [names.readOnly, isRead, readOnly],
    [names.allow, ({ name }) => allowed.has(name), allowed.size > 0],
    [names.toolsets, ({ toolset }) => ofToolset.has(toolset), ofToolset.size > 0],
  ];
  return rules.flatMap(([name, allows, isSet]) => (isSet ? [[name, allows] as const] : []));
}

export function isRead({ definition }: ListedTool): boolean {
  return definition.annotations?.readOnlyHint === true;
}

function readNames(values: readonly string[], known: readonly string[], setting: string): Set<string> {
  const names = values.map((name) => name.toLowerCase());
  const unknown = names.find((name) => !known.includes(name));
  if (unknown !== undefined) {
    const nearest = nearestName(unknown, known);
    const hint = nearest === undefined ? "" : ` Did you mean ${nearest}?`;
    throw new ToolFilterError(`${setting} has an unknown name: ${unknown.slice(0, 64)}.${hint}`);
  }
  return new Set(names);
}

/** Undefined if the request has none of these headers. */
function readHeaders(
  headers: IncomingHttpHeaders,
): (Omit<ToolFilterSettings, "mode"> & { readonly mode: ToolMode | undefined }) | undefined {
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
    throw new ToolFilterError(`${headerNames.readOnly} takes true or false.`);
  }
  return /^(?:true|1)$/i.test(text);
}

function readMode(text: string): ToolMode | undefined {
  const mode = toolModes.find((known) => known === text.toLowerCase());
  if (mode === undefined && text !== "") {
    throw new ToolFilterError(`${headerNames.mode} takes one of ${toolModes.join(", ")}.`);
  }
  return mode;
}
