/** The skills of the folder `skills/`, each one file. A build replaces this module by its values. */
import { readdirSync, readFileSync } from "node:fs";
import { skillEntry } from "@modelcontextprotocol/server/ext/skills";

const folder = new URL("../../../skills/", import.meta.url);

export const skills = await Promise.all(
  readdirSync(folder)
    .sort()
    .map(async (name) => {
      const text = readFileSync(new URL(`${name}/SKILL.md`, folder), "utf8");
      return { entry: await skillEntry(name, { "SKILL.md": text }), text };
    }),
);
