/** The tools that are listed: the core ones, all, or two that find and run the others. */

export const toolModes = ["core", "all", "search"] as const;

export type ToolMode = (typeof toolModes)[number];
