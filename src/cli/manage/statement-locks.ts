/** Which locks of existing tables the statements of migrations take, by their texts. */
import {
  DummyDriver,
  Kysely,
  type Migration,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
} from "kysely";

/** A lock, and what waits for it meanwhile. */
export interface StatementLock {
  /** Of DROP INDEX, whose text does not name the table, the index. */
  readonly table: string;
  readonly mode: string;
  readonly blocks: "reads and writes" | "writes" | "nothing";
}

const modes = {
  exclusive: { mode: "ACCESS EXCLUSIVE", blocks: "reads and writes" },
  share: { mode: "SHARE", blocks: "writes" },
  reference: { mode: "SHARE ROW EXCLUSIVE", blocks: "writes" },
  concurrent: { mode: "SHARE UPDATE EXCLUSIVE", blocks: "nothing" },
  write: { mode: "ROW EXCLUSIVE", blocks: "nothing" },
} as const;

const table = String.raw`(?:only )?(?:public\.)?"?(\w+)"?`;

/** The first rule that matches gives the lock of the statement's own table. */
const rules: readonly (readonly [RegExp, keyof typeof modes])[] = [
  [new RegExp(`^alter table (?:if exists )?${table} validate constraint`), "concurrent"],
  [new RegExp(`^alter table (?:if exists )?${table} (?:re)?set \\(`), "concurrent"],
  [new RegExp(`^alter table (?:if exists )?${table} add (?:constraint \\w+ )?foreign key`), "reference"],
  [new RegExp(`^alter table (?:if exists )?${table}`), "exclusive"],
  [new RegExp(`^drop table (?:if exists )?${table}`), "exclusive"],
  [new RegExp(`^drop index concurrently (?:if exists )?${table}`), "concurrent"],
  [new RegExp(`^drop index (?:if exists )?${table}`), "exclusive"],
  [new RegExp(`^create (?:unique )?index concurrently .*? on ${table}`), "concurrent"],
  [new RegExp(`^create (?:unique )?index .*?\\bon ${table}`), "share"],
  [new RegExp(`^create (?:or replace )?(?:constraint )?trigger .*?\\bon ${table}`), "reference"],
  [new RegExp(`^drop trigger .*?\\bon ${table}`), "exclusive"],
  [new RegExp(`^(?:insert into|update|delete from) ${table}`), "write"],
];

/** The texts of the statements that a migration runs, on one line each. None of them is run. */
export async function statementsOf({ up }: Migration): Promise<readonly string[]> {
  const statements: string[] = [];
  const recorder = new Kysely<unknown>({
    dialect: {
      createAdapter: () => new PostgresAdapter(),
      createDriver: () => new DummyDriver(),
      createIntrospector: (db) => new PostgresIntrospector(db),
      createQueryCompiler: () => new PostgresQueryCompiler(),
    },
    log: ({ query }) => void statements.push(query.sql.replace(/\s+/g, " ").trim()),
  });
  await up(recorder);
  return statements;
}

/** The locks that a statement takes of tables that are there before it. */
export function locksOf(statement: string): readonly StatementLock[] {
  const text = statement.toLowerCase();
  const [own] = rules.flatMap(([pattern, mode]) => {
    const name = pattern.exec(text)?.[1];
    return name === undefined ? [] : [{ table: name, ...modes[mode] }];
  });
  const written = /^with /.test(text)
    ? [...text.matchAll(new RegExp(`\\b(?:insert into|update|delete from) ${table}`, "g"))].map(
        ([, name = ""]) => ({ table: name, ...modes.write }),
      )
    : [];
  const referenced = /^(?:create|alter) table/.test(text)
    ? [...text.matchAll(new RegExp(`references ${table}`, "g"))].map(([, name = ""]) => ({
        table: name,
        ...modes.reference,
      }))
    : [];
  return [...(own ? [own] : []), ...written, ...referenced];
}
