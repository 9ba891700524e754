/** Which tools are listed: the core ones, all, or the two that search and run the others. */

export const toolModes = ["core", "all", "search"] as const;

export type ToolMode = (typeof toolModes)[number];
