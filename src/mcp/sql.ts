/** Finds the SQL in a text: where a statement begins is told by its words, where it ends by reading it. */

/** Statements in the usual capitals, which prose does not have. */
const loud =
  /\b(?:SELECT\s(?:[\s\S]{1,1000}?\sFROM\s|\d|\w{1,60}\()|INSERT\s+INTO\s|UPDATE\s+\S{1,200}\s+SET\s|DELETE\s+FROM\s|MERGE\s+INTO\s|TRUNCATE\s+TABLE\s|(?:CREATE|ALTER|DROP)\s+(?:[A-Z]{1,20}\s+){0,2}(?:TABLE|INDEX|VIEW|SCHEMA|DATABASE|FUNCTION|TRIGGER|TYPE|ROLE|USER)\b|WITH\s+(?:RECURSIVE\s+)?\S{1,100}\s+AS\s*\()/;

/** The same in small letters, where more than two words of it must be there. */
const quiet: readonly RegExp[] = [
  /\binsert\s+into\s+\S{1,200}\s*(?:\([^)]{0,1000}\)\s*)?(?:values\b|select\b|default\s+values\b)/i,
  /\bupdate\s+(?:only\s+)?\S{1,200}\s+set\s+\S{1,200}\s*=/i,
  /\bdelete\s+from\s+(?:["`]|\S{1,200}\s+(?:where\s+\S{1,200}\s*(?:[=<>]|in\b|is\b)|using\b))/i,
  /\b(?:create|alter|drop)\s+table\s+(?:if\s+(?:not\s+)?exists\s+)?\S{1,200}\s*(?:\(|add\b|drop\b|alter\b|cascade\b|rename\b)/i,
  /\bwith\s+(?:recursive\s+)?\S{1,100}\s+as\s*\(\s*(?:select|insert|update|delete)\b/i,
];

/** What a query holds and a sentence such as "select a contact from the list" does not. */
const evidence =
  /\*|\bfrom\s+["`]|["`]\s*[.=]|["`],\s*["`]|\w\.\w+\s*[,=]|\w\([^)]*\)|\bwhere\s+\S{1,200}\s*(?:[=<>]|!=|in\s*\(|is\s+(?:not\s+)?null\b|i?like\s)|\blimit\s+[\d$?]|\b(?:order|group)\s+by\s|\b(?:inner|left|right|cross)\s+join\s/i;

/** Replaces every statement. */
export function replaceSql(text: string, replace: (statement: string) => string): string {
  let done = "";
  let rest = text;
  for (let start = findStart(rest); start >= 0; start = findStart(rest)) {
    const end = findEnd(rest, start);
    done += rest.slice(0, start) + replace(rest.slice(start, end));
    rest = rest.slice(end);
  }
  return done + rest;
}

function findStart(text: string): number {
  const query = [...text.matchAll(/\bselect\s/gi)].find(({ index }) => {
    const statement = text.slice(index, findEnd(text, index));
    return /\sfrom\s/i.test(statement) && evidence.test(statement);
  });
  const starts = [loud, ...quiet].map((pattern) => text.search(pattern));
  return [query?.index ?? -1, ...starts].filter((start) => start >= 0).sort((a, b) => a - b)[0] ?? -1;
}

/** Ends a statement outside of quotes and brackets: its sentence does, or a line that does not carry it on. */
const ends =
  /^(?:;|\.(?:\s|$)|\s[-–—]\s|\n\s*(?:\n|at\s)|\n(?![\s(),"`$*-]|(?:select|from|where|and|or|inner|left|right|full|cross|join|on|order|group|having|limit|offset|values|set|returning|union|with|as|insert|update|delete|using|into|params|for|case|when|then|else|end)\b))/i;
const quotes = ["'", '"', "`"];

function findEnd(text: string, start: number): number {
  let depth = 0;
  for (let at = start; at < text.length; at += 1) {
    const character = text.charAt(at);
    const close = quotes.includes(character) ? text.indexOf(character, at + 1) : -1;
    depth += "([".includes(character) ? 1 : ")]".includes(character) ? -1 : 0;
    const isOver = depth < 0 || (depth === 0 && ends.test(text.slice(at, at + 20)));
    if (isOver) {
      return at;
    }
    at = Math.max(at, close);
  }
  return text.length;
}
