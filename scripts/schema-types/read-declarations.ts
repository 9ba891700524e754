/**
 * Reads the declarations of columns in `src/database/schema/`: types that are more precise than the SQL type,
 * and comments.
 */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { type ESTree, Visitor } from "vite";
import { parseSource } from "../mutate/find/source.ts";

export const folder = "src/database/schema";
export const generatedFiles = ["sql-types.ts", "tables.ts"] as const;

export interface Declarations {
  /** Keyed by `table` or `table.column`. */
  readonly members: ReadonlyMap<string, Declaration>;
  /** The file that exports each type, keyed by the name of the type. */
  readonly exports: ReadonlyMap<string, string>;
}

interface Declaration {
  /** The comment above the declaration; "" if there is none. */
  readonly comment: string;
  /** The TypeScript type of the values. */
  readonly type: string;
}

type Property = ESTree.TSPropertySignature;

/** The members of the interfaces named `…Columns`, and the exported types. */
export function readDeclarations(): Declarations {
  const excluded: readonly string[] = ["index.ts", ...generatedFiles];
  const files = readdirSync(folder).filter((file) => !excluded.includes(file));
  const members = new Map<string, Declaration>();
  const exports = new Map<string, string>();
  for (const file of files) {
    const text = readFileSync(join(folder, file), "utf8");
    for (const [, name = ""] of text.matchAll(/^export (?:type|interface) (\w+)/gm)) {
      exports.set(name, file);
    }
    addMembers(members, file, text);
  }
  return { members, exports };
}

function addMembers(members: Map<string, Declaration>, file: string, text: string): void {
  const add = (path: string, { body, start }: { body: readonly ESTree.TSSignature[]; start: number }) => {
    let end = start + 1;
    for (const property of body.filter(isProperty)) {
      const { key, typeAnnotation } = property;
      const name = [path, text.slice(key.start, key.end)].filter(Boolean).join(".");
      const type = typeAnnotation?.typeAnnotation;
      members.set(name, {
        comment: text.slice(end, property.start).trim(),
        type: type ? text.slice(type.start, type.end) : "",
      });
      if (path === "" && type?.type === "TSTypeLiteral") {
        add(name, { body: type.members, start: type.start });
      }
      end = property.end;
    }
  };
  new Visitor({
    TSInterfaceDeclaration({ id, body }) {
      if (id.name.endsWith("Columns")) {
        add("", body);
      }
    },
  }).visit(parseSource(file, text).program);
}

function isProperty(member: ESTree.TSSignature): member is Property {
  return member.type === "TSPropertySignature";
}
