/**
 * The columns of the tables, read from the types in src/database/schema, and the columns that can be confused
 * with each other.
 */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { type ESTree, Visitor } from "vite";
import { parseSource } from "./source.ts";

/** For each table, the kinds of its columns that have one. */
export type ColumnKinds = ReadonlyMap<string, ReadonlyMap<string, string>>;

const folder = "src/database/schema";

export function readColumnKinds(root: string): ColumnKinds {
  const files = readdirSync(join(root, folder)).map((name) => join(folder, name));
  return new Map(files.flatMap((file) => [...parseTables(file, readFileSync(join(root, file), "utf8"))]));
}

/** The tables of the interfaces named `…Tables`. */
export function parseTables(file: string, text: string): ColumnKinds {
  const { program } = parseSource(file, text);
  const interfaces = new Map<string, readonly ESTree.TSSignature[]>();
  new Visitor({
    TSInterfaceDeclaration: ({ id, body }) => void interfaces.set(id.name, body.body),
  }).visit(program);
  const membersOf = (type: ESTree.TSType): readonly ESTree.TSSignature[] => {
    if (type.type === "TSIntersectionType") {
      return type.types.flatMap(membersOf);
    }
    if (type.type === "TSTypeReference" && type.typeName.type === "Identifier") {
      return interfaces.get(type.typeName.name) ?? [];
    }
    return type.type === "TSTypeLiteral" ? type.members : [];
  };
  const tables = [...interfaces].filter(([name]) => name.endsWith("Tables")).flatMap(([, body]) => body);
  return new Map(
    tables.flatMap(namedType).map(({ name, type }) => [
      name,
      new Map(
        membersOf(type)
          .flatMap(namedType)
          .flatMap((column) => {
            const kind = kindOf(column.name, text.slice(column.type.start, column.type.end));
            return kind === undefined ? [] : [[column.name, kind] as const];
          }),
      ),
    ]),
  );
}

/**
 * The column to use instead of this column: the most similar column of its kind, or else the next column of
 * the kind in the table.
 */
export function confusedWith(columns: ColumnKinds, table: string, column: string): string | undefined {
  const kinds = columns.get(table);
  const kind = kinds?.get(column);
  if (kinds === undefined || kind === undefined) {
    return undefined;
  }
  const same = [...kinds].filter(([, other]) => other === kind).map(([name]) => name);
  const position = same.indexOf(column);
  const others = [...same.slice(position + 1), ...same.slice(0, position)];
  const words = column.split("_");
  const similarity = (name: string) => name.split("_").filter((word) => words.includes(word)).length;
  return others.sort((a, b) => similarity(b) - similarity(a))[0];
}

function namedType(member: ESTree.TSSignature): { name: string; type: ESTree.TSType }[] {
  return member.type === "TSPropertySignature" && member.key.type === "Identifier" && member.typeAnnotation
    ? [{ name: member.key.name, type: member.typeAnnotation.typeAnnotation }]
    : [];
}

/**
 * The kind of a column. Columns of one kind have values of the same type and meaning. A state or a JSON value
 * has no kind, and neither has the id of the row itself, without which nothing works.
 */
function kindOf(column: string, type: string): string | undefined {
  const plain = type.replace(/^Generated<(.*)>$/, "$1").replace(/ \| null$/, "");
  if (column === "organization_id" || column === "id") {
    return undefined;
  }
  if (plain !== "string") {
    return ["number", "boolean", "string[]"].find((one) => one === plain);
  }
  if (/(?:^|_)(?:at|since|until|end|from|date)$/.test(column)) {
    return "time";
  }
  return /(?:^|_)id$/.test(column) ? "id" : "text";
}
