/**
 * Serves the skills of this repository by the protocol's extension `io.modelcontextprotocol/skills`
 * (SEP-2640): `skills/list` and `skills/get` describe them, and each is a resource,
 * `skill://<name>/SKILL.md`.
 *
 * A skill is offered to a caller who may call the tools that its frontmatter names in `metadata.requires`.
 * The SDK's own implementation serves only its high-level server.
 */
import {
  ProtocolError,
  ProtocolErrorCode,
  type ReadResourceResult,
  type Resource,
  type Server,
  specTypeSchemas,
} from "@modelcontextprotocol/server";
import type { Skill } from "@modelcontextprotocol/server/ext/skills";
import { type McpCaller, visibilityOf } from "../tool-call/index.ts";
import type { ToolList } from "../tool-list/index.ts";

/** Declares that the server implements `skills/list` and `skills/get`. */
export const skillsCapability = { "io.modelcontextprotocol/skills": {} };

const mimeType = "text/markdown";

export interface Skills {
  /** The skills as resources. */
  list(caller: McpCaller): Promise<Resource[]>;
  /** The text of a skill; undefined if this is the address of none that the caller is offered. */
  read(caller: McpCaller, uri: string): Promise<ReadResourceResult | undefined>;
  /** Answers `skills/list` and `skills/get`. */
  serve(server: Server, caller: McpCaller, cacheHints: CacheHints): void;
}

interface CacheHints {
  readonly ttlMs: number;
  readonly cacheScope: "private" | "public";
}

export function createSkills(list: ToolList): Skills {
  const find = async (caller: McpCaller) => {
    // Loaded when a client wants them, because few do.
    const [{ skills }] = await Promise.all([import("./definitions.ts"), caller.waitForAccess?.()]);
    const tools = new Set(list.callable(visibilityOf(caller)).map(({ name }) => name));
    return skills.filter(({ entry }) => requiredTools(entry).every((tool) => tools.has(tool)));
  };
  return {
    async list(caller) {
      return (await find(caller)).map(({ entry: { uri, frontmatter } }) => {
        const { name, description } = frontmatter;
        return { uri, name, description, mimeType };
      });
    },
    async read(caller, uri) {
      const skill = (await find(caller)).find(({ entry }) => entry.uri === uri);
      return skill && { contents: [{ uri, mimeType, text: skill.text }] };
    },
    serve(server, caller, cacheHints) {
      const { PaginatedRequestParams, ReadResourceRequestParams } = specTypeSchemas;
      server.setRequestHandler("skills/list", { params: PaginatedRequestParams }, async () => ({
        skills: (await find(caller)).map(({ entry }) => entry),
        ...cacheHints,
      }));
      server.setRequestHandler("skills/get", { params: ReadResourceRequestParams }, async ({ uri }) => {
        const skill = (await find(caller)).find(({ entry }) => entry.uri === uri);
        if (!skill) {
          throw new ProtocolError(
            ProtocolErrorCode.InvalidParams,
            `No skill is served at ${uri.slice(0, 256)}. skills/list has the addresses.`,
          );
        }
        return { skill: skill.entry, ...cacheHints };
      });
    },
  };
}

/** The tools without which a skill is of no use. */
function requiredTools({ frontmatter }: Skill): string[] {
  const { requires } = frontmatter.metadata as { readonly requires: string }; // a test checks each skill
  return requires.split(" ");
}
