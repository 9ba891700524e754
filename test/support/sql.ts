/** The tables that a SQL text reads and writes. */

/** The name of a table; undefined if a variable holds it. */
export type TableName = string | undefined;

export interface StatementTables {
  readonly reads: readonly TableName[];
  readonly writes: readonly TableName[];
}

/**
 * Every name counts as a table that is read, so that no form of SQL is overlooked, except a column after its
 * table and a name after `as`. A table is written where it follows the verb of a statement.
 * @param parts the texts of a template, between its values.
 */
export function tablesOfSql(parts: readonly string[]): StatementTables {
  const tokens = readTokens(parts.join(value));
  const isColumn = (at: number) => tokens[at - 1] === "." && tokens[at - 2] !== "public";
  return {
    reads: tokens.filter((token, at) => isName(token) && !isColumn(at) && tokens[at - 1] !== "as"),
    writes: tokens.flatMap((_, at) => targetsOf(tokens, at)),
  };
}

/** Stands for a value of the template. */
const value = "\0";

const comment = String.raw`--.*|/\*[^]*?\*/`;
const constant = String.raw`\be'(?:\\.|[^'\\])*'|'[^']*'`;
const name = String.raw`\w+|"[^"]+"`;
const pattern = new RegExp(`${comment}|${constant}|(${name}|\\S)`, "gi");

/** The names, keywords and signs of a text. A name has no quotes, and lower case if it had none. */
function readTokens(text: string): readonly string[] {
  const tokens = [...text.matchAll(pattern)].flatMap(([, token]) => token ?? []);
  return tokens.map((token) => (token.startsWith('"') ? token.slice(1, -1) : token.toLowerCase()));
}

const isName = (token: string) => /^\w/.test(token);

const verbs = [["insert", "into"], ["merge", "into"], ["delete", "from"], ["update"], ["truncate"], ["copy"]];

/** A verb after these words is a part of another statement, such as `for update of` and `do update set`. */
const wordsBeforeClauses = ["for", "key", "do", "then", "on"];

/** The tables that the statement writes whose verb begins here; none if no verb does. */
function targetsOf(tokens: readonly string[], at: number): readonly TableName[] {
  const verb = verbs.find((words) => words.every((word, index) => tokens[at + index] === word));
  return verb && !wordsBeforeClauses.includes(tokens[at - 1] ?? "")
    ? readList(tokens.slice(at + verb.length))
    : [];
}

/** A table, or several with commas between them. */
function readList([token = "", ...rest]: readonly string[]): readonly TableName[] {
  if (["table", "only", "public", "."].includes(token)) {
    return readList(rest);
  }
  const isTable = token === value || isName(token);
  const others = rest[0] === "," ? readList(rest.slice(1)) : [];
  return isTable ? [token === value ? undefined : token, ...others] : [];
}
