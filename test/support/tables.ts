/**
 * The tables that a source names, and the tables that it writes.
 *
 * A source may read each table that it names: in SQL, or as a string, wherever the string stands. It writes
 * the tables of its statements that change rows. A statement that gets the name of its table from a
 * variable is reported.
 */
import { type ESTree, Visitor } from "vite";
import { contains, parseSource, type Range, stringOf } from "../../scripts/mutate/find/source.ts";
import { type StatementTables, type TableName, tablesOfSql } from "./sql.ts";

export interface TableUse {
  readonly named: readonly string[];
  readonly written: readonly string[];
  /** The statements that get the name of a table from a variable, with what to do about it. */
  readonly unclear: readonly string[];
}

/**
 * The files whose functions get the name of a table from their callers, with the functions that write the
 * table: the call of such a function must name it, and counts as a write of the caller.
 */
const namedByCallers: Readonly<Record<string, readonly string[]>> = {
  "src/database/query/insert-all.ts": ["insertAll"],
  "src/database/query/delete-old.ts": ["deleteOld"],
  // The type of a column is raw SQL, from the generated types.
  "src/database/query/recordset.ts": [],
  // Its methods have the names of the methods of Kysely.
  "src/database/query/of-organization.ts": [],
  // Every table is analyzed.
  "src/database/statistics.ts": [],
  // Every table is vacuumed.
  "src/database/embedded/maintenance.ts": [],
  // Every table is read, for its damage.
  "src/cli/doctor/pages.ts": [],
  // Every table is read and filled.
  "src/cli/manage/backup/database/dump.ts": [],
  "src/cli/manage/backup/database/load.ts": [],
  // test/architecture.test.ts compares the rules and columns that a module hands in with the
  // tables of the module.
  "src/platform/foundation/kernel/retention.ts": [],
  "src/platform/foundation/sealing/reseal.ts": [],
};
const writers = Object.values(namedByCallers).flat();

/** Methods of Kysely whose first argument is a table, a list of tables or a subquery. */
const writingMethods = /^(?:insertInto|replaceInto|updateTable|deleteFrom|mergeInto)$/;
const readingMethods = /^(?:selectFrom|\w+Join(?:Lateral)?)$/;

/** Strings in these files that equal the name of a table are words, names at Meta, or what budgets count. */
const filesWithWords = [
  "src/adapters/channel/whatsapp/sending/body.ts",
  "src/adapters/channel/whatsapp/set-up/meta-app.ts",
  "src/adapters/channel/whatsapp/webhook/alerts.ts",
  "src/adapters/channel/whatsapp/webhook/content.ts",
  "src/platform/account/organization/limits.ts",
  "src/platform/account/rules/budgets/read.ts",
];

/** @param tables the names of all tables of the database. */
export function findTables(path: string, text: string, tables: ReadonlySet<string>): TableUse {
  const { strings, templates, calls } = readSyntax(path, text);
  const named = filesWithWords.includes(path) ? [] : strings.filter(({ table }) => tables.has(table));
  const statements = [
    ...templates.map((node) => ({ node, ...tablesOfSql(partsOf(node.quasi) ?? []) })),
    ...calls.map((node) => ({ node, ...tablesOfCall(node, named) })),
  ];
  const unclear = statements.filter(({ reads, writes }) => [...reads, ...writes].includes(undefined));
  const only = (names: readonly TableName[]) =>
    [...new Set(names)].flatMap((name) => (name !== undefined && tables.has(name) ? [name] : []));
  return {
    named: only([...named.map(({ table }) => table), ...statements.flatMap(({ reads }) => reads)]),
    written: only(statements.flatMap(({ writes }) => writes)),
    unclear: path in namedByCallers ? [] : unclear.map(({ node }) => describe(path, text, node)),
  };
}

function describe(path: string, text: string, { start, end }: Range): string {
  const line = text.slice(0, start).split("\n").length;
  const code = text.slice(start, end).replace(/\s+/g, " ").slice(0, 60);
  return [
    `${path}:${line}: "${code}" gets the name of a table from a variable.`,
    "Write the name in the statement. A function that reads several tables can be called with sql`name`.",
    "A function that must be called with a name is to be listed in test/support/tables.ts.",
  ].join(" ");
}

/** A string that may be the name of a table. */
interface NamedTable extends Range {
  readonly table: string;
}

const none: StatementTables = { reads: [], writes: [] };

/** @param named the strings of the source that name tables. */
function tablesOfCall(call: ESTree.CallExpression, named: readonly NamedTable[]): StatementTables {
  const { callee, arguments: given } = call;
  if (callee.type === "Identifier" && writers.includes(callee.name)) {
    const writes = named.filter((one) => contains(call, one)).map(({ table }) => table);
    return { ...none, writes: writes.length > 0 ? writes : [undefined] };
  }
  const [first] = given;
  if (callee.type !== "MemberExpression" || callee.property.type !== "Identifier" || !first) {
    return none;
  }
  const method = callee.property.name;
  const object = callee.object.type === "Identifier" ? callee.object.name : "";
  if (method === "raw" && ["sql", "CompiledQuery"].includes(object)) {
    const [part, ...others] = partsOf(first) ?? [];
    return part === undefined || others.length > 0 ? { ...none, reads: [undefined] } : tablesOfSql([part]);
  }
  if (writingMethods.test(method)) {
    return { ...none, writes: tablesOfArgument(first) };
  }
  const isRead = readingMethods.test(method) || (method === "table" && object === "sql");
  return isRead ? { ...none, reads: tablesOfArgument(first) } : none;
}

function tablesOfArgument(argument: ESTree.Node): readonly TableName[] {
  if (argument.type === "ArrayExpression") {
    return argument.elements.flatMap((element) => (element ? tablesOfArgument(element) : []));
  }
  if (isSubquery(argument)) {
    return [];
  }
  const [part = "", ...others] = partsOf(argument) ?? [];
  return [others.length > 0 ? undefined : tableIn(part)];
}

/** `query.as("name")`, or a function that returns it. */
function isSubquery(node: ESTree.Node): boolean {
  const callee = node.type === "CallExpression" ? node.callee : undefined;
  const method = callee?.type === "MemberExpression" ? callee.property : undefined;
  return node.type === "ArrowFunctionExpression" || (method?.type === "Identifier" && method.name === "as");
}

/** The table of "table", "table as name" and "public.table". */
function tableIn(text: string): TableName {
  return /^(?:public\.)?(\w+)(?: as \w+)?$/.exec(text)?.[1];
}

/** The texts of a string or a template between its values; undefined for other syntax. */
function partsOf(node: ESTree.Node): readonly string[] | undefined {
  if (node.type === "TemplateLiteral") {
    return node.quasis.map(({ value }) => value.raw);
  }
  const text = stringOf(node);
  return text === undefined ? undefined : [text];
}

interface Syntax {
  readonly strings: readonly NamedTable[];
  /** Templates with a tag, which is `sql`. */
  readonly templates: readonly ESTree.TaggedTemplateExpression[];
  readonly calls: readonly ESTree.CallExpression[];
}

function readSyntax(path: string, text: string): Syntax {
  const strings: NamedTable[] = [];
  const types: Range[] = [];
  const templates: ESTree.TaggedTemplateExpression[] = [];
  const calls: ESTree.CallExpression[] = [];
  const addString = (node: ESTree.Node) => {
    const [part = "", ...others] = partsOf(node) ?? [];
    const table = tableIn(part);
    if (table !== undefined && others.length === 0) {
      strings.push({ start: node.start, end: node.end, table });
    }
  };
  new Visitor({
    Literal: addString,
    TemplateLiteral: addString,
    TSLiteralType: (node) => types.push(node),
    TaggedTemplateExpression: (node) => templates.push(node),
    CallExpression: (node) => calls.push(node),
  }).visit(parseSource(path, text).program);
  const isType = ({ start }: Range) => types.some((type) => type.start === start);
  return { strings: strings.filter((one) => !isType(one)), templates, calls };
}
