/** Mutations: what each operator finds and leaves, and that the choice is the same each time and spread. */
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { choose, type MutationChoice } from "../scripts/mutate/choose.ts";
import { parseTables, readColumnKinds } from "../scripts/mutate/find/columns.ts";
import { findMutations } from "../scripts/mutate/find/index.ts";
import { parseSource } from "../scripts/mutate/find/source.ts";
import { readModules } from "../scripts/mutate/modules.ts";
import {
  applyEdit,
  diffOf,
  type Mutation,
  type OperatorName,
  operators,
} from "../scripts/mutate/mutation.ts";
import { readReasons } from "../scripts/mutate/report.ts";
import { prepareProgram } from "../scripts/mutate/run/program.ts";
import { describeFailure } from "../scripts/mutate/run/vitest-report.ts";
import { readTests, testsFor } from "../scripts/mutate/tests.ts";
import { programPath } from "./support/process.ts";

// biome-ignore-start lint/suspicious/noTemplateCurlyInString: they are templates of the sources that are mutated.

const columns = parseTables(
  "schema.ts",
  `interface Job { id: string; run_at: string; created_at: string }
  export interface SomeTables {
    orders: {
      organization_id: string; id: string; contact_id: string; inbox_id: string; name: string; status: "a" | "b";
      sent_count: number; failed_count: Generated<number>; created_at: string; updated_at: string | null;
    };
    jobs: Job & { attempts: number };
  }`,
);

/** The mutations of a source by one operator, each as the mutated text. */
function mutate(operator: OperatorName, text: string): string[] {
  return findMutations({ file: "source.ts", module: "sources", text }, columns)
    .filter((mutation) => mutation.operator === operator)
    .map((mutation) => applyEdit(text, mutation));
}

describe("condition", () => {
  test("negates the conditions of if and of conditional expressions, operands and comparisons", () => {
    expect(mutate("condition", "if (a) b();")).toEqual(["if (!(a)) b();"]);
    expect(mutate("condition", "if (!a) b();")).toEqual(["if (a) b();"]);
    expect(mutate("condition", "const b = a ? 1 : 2;")).toEqual(["const b = !(a) ? 1 : 2;"]);
    expect(mutate("condition", "const c = a && b;")).toEqual(["const c = !(a) && b;"]);
    expect(mutate("condition", "f(a === b, c >= d);")).toEqual(["f(a !== b, c >= d);", "f(a === b, c < d);"]);
    expect(mutate("condition", "if (a || (b && c)) d();")).toEqual([
      "if (!(a || (b && c))) d();",
      "if (!(a) || (b && c)) d();",
      "if (a || (!(b && c))) d();",
      "if (a || (!(b) && c)) d();",
      "if (a || (b && !(c))) d();",
    ]);
  });

  test.each([
    "world.log.warn({ isLate: a === b });",
    'throw new Error(a === b ? "one" : "other");',
    "const text = error instanceof Error ? error.message : String(error);",
    "const order = (a, b) => (a < b ? -1 : 1);",
    'type T = A extends B ? "one" : "other";',
    "// if (a === b)",
    "f(a + b, a ?? b);",
  ])("leaves %s", (text) => {
    expect(operators.flatMap((operator) => mutate(operator, text))).toEqual([]);
  });
});

describe("boundary", () => {
  test("moves comparisons in the code, in Kysely's builder and in SQL", () => {
    expect(mutate("boundary", "f(a < b);")).toEqual(["f(a <= b);"]);
    expect(mutate("boundary", 'db.where("run_at", ">=", now);')).toEqual(['db.where("run_at", ">", now);']);
    expect(mutate("boundary", "sql`select * from jobs where run_at <= ${f(1 + 1)} -- not a < b`;")).toEqual([
      "sql`select * from jobs where run_at < ${f(1 + 1)} -- not a < b`;",
    ]);
  });

  test("adds one to a limit", () => {
    expect(mutate("boundary", "const maxTries = 3;")).toEqual(["const maxTries = 4;"]);
    expect(mutate("boundary", "f({ max_length: 20 });")).toEqual(["f({ max_length: 21 });"]);
    expect(mutate("boundary", "query.limit(100);")).toEqual(["query.limit(101);"]);
  });

  test.each([
    "const maxWaitMs = 500;",
    "const maxBytes = 5_000_000;",
    "const port = 443;",
    "query.limit(1);",
    "f<A>(b);",
    "sql`select a <> b, c -> 'd', e @> f, '1 < 2'`;",
  ])("leaves %s", (text) => {
    expect(mutate("boundary", text)).toEqual([]);
  });
});

describe("dropped-await", () => {
  test("removes an await whose result is not used, or is a condition", () => {
    expect(mutate("dropped-await", "await f();")).toEqual(["f();"]);
    expect(mutate("dropped-await", "if (!(await f())) g();")).toEqual(["if (!(f())) g();"]);
  });

  test("removes an await before a return only in a try block of the same function", () => {
    expect(mutate("dropped-await", "async () => { try { return await f(); } catch { g(); } };")).toEqual([
      "async () => { try { return f(); } catch { g(); } };",
    ]);
    expect(mutate("dropped-await", "async () => { return await f(); };")).toEqual([]);
    expect(mutate("dropped-await", "try { g(async () => { return await f(); }); } catch {}")).toEqual([]);
  });

  test("leaves an await whose result is used, which the compiler misses", () => {
    expect(
      mutate("dropped-await", "const a = await f(); for await (const b of c) {} await using d = e();"),
    ).toEqual([]);
  });
});

describe("dropped-tenant-condition", () => {
  test("removes the condition from Kysely's builder", () => {
    const text =
      'db.selectFrom("orders").where("orders.organization_id", "=", organization).where("id", "=", id);';
    expect(mutate("dropped-tenant-condition", text)).toEqual([
      'db.selectFrom("orders").where("id", "=", id);',
    ]);
  });

  test("begins a statement of one organization without it", () => {
    const text = 'ofOrganization(db, organization).selectFrom("orders").where("id", "=", id);';
    expect(mutate("dropped-tenant-condition", text)).toEqual([
      'db.selectFrom("orders").where("id", "=", id);',
    ]);
    const ofRow = 'ofOrganization(tx, row.organization_id).selectFrom("orders").where("id", "=", id);';
    expect(mutate("dropped-tenant-condition", ofRow)).toEqual([]);
  });

  test("replaces the condition in SQL by true", () => {
    const one = "sql`select * from orders where organization_id = ${organization} and id = ${id}`;";
    expect(mutate("dropped-tenant-condition", one)).toEqual([
      "sql`select * from orders where true and id = ${id}`;",
    ]);
    const several = "sql`delete from orders where orders.organization_id = any(${all}::text[])`;";
    expect(mutate("dropped-tenant-condition", several)).toEqual(["sql`delete from orders where true`;"]);
  });

  test("leaves statements about a row that was read before, by its id, and joins", () => {
    const ofRow = 'db.where("organization_id", "=", row.organization_id)';
    expect(mutate("dropped-tenant-condition", `${ofRow}.where("contact_id", "=", id);`)).toEqual([]);
    expect(mutate("dropped-tenant-condition", `${ofRow}.where("name", "=", name);`)).toHaveLength(1);
    expect(
      mutate("dropped-tenant-condition", "sql`a join b on a.organization_id = b.organization_id`;"),
    ).toEqual([]);
    const joined =
      "sql`a join orders on orders.organization_id = ${organization} and orders.id = a.order_id`;";
    expect(mutate("dropped-tenant-condition", joined)).toEqual([]);
    expect(
      mutate("dropped-tenant-condition", "sql`update a set organization_id = ${organization}`;"),
    ).toEqual([]);
  });
});

describe("wrong-column", () => {
  test("names another column of the same table and kind, the most similar one", () => {
    const text =
      'db.selectFrom("orders").select(["created_at", "orders.name as title"]).where("sent_count", ">", 0);';
    expect(mutate("wrong-column", text)).toEqual([
      text.replace('"created_at"', '"updated_at as created_at"'),
      text.replace('"sent_count"', '"failed_count"'),
    ]);
    const update = 'db.updateTable("orders").set({ updated_at, sent_count: 1 }).orderBy("contact_id");';
    expect(mutate("wrong-column", update)).toEqual([
      update.replace("updated_at", "created_at: updated_at"),
      update.replace("sent_count", "failed_count"),
      update.replace("contact_id", "inbox_id"),
    ]);
  });

  test("knows the tables of names that a join or an alias gives", () => {
    const text =
      'db.selectFrom("jobs as job").innerJoin("orders", "a", "b").orderBy("job.run_at").where("orders.contact_id", "=", id);';
    expect(mutate("wrong-column", text)).toEqual([
      text.replace("job.run_at", "job.created_at"),
      text.replace("orders.contact_id", "orders.inbox_id"),
    ]);
  });

  test("changes what SQL compares, sets and sorts by", () => {
    const text =
      "sql`update orders set sent_count = ${sent} where created_at < ${now} and id in (select 1) order by name`;";
    expect(mutate("wrong-column", text)).toEqual([
      text.replace("sent_count", "failed_count"),
      text.replace("created_at", "updated_at"),
    ]);
    const joined =
      "sql`select 1 from jobs as job join orders on true where job.run_at = ${now} and created_at = ${now}`;";
    expect(mutate("wrong-column", joined)).toEqual([joined.replace("run_at", "created_at")]);
  });

  test.each([
    'db.selectFrom("orders").where("organization_id", "=", a).where("id", "=", b).where("status", "=", c);',
    'db.selectFrom("others").select("created_at");',
    'query.where("created_at", "=", now);',
    'db.updateTable("orders").set({ created_at: a, updated_at: b });',
    "sql`select created_at from orders -- where created_at = 1`;",
  ])("leaves %s", (text) => {
    expect(mutate("wrong-column", text)).toEqual([]);
  });
});

// biome-ignore-end lint/suspicious/noTemplateCurlyInString: they are templates of the sources that are mutated.

test("a mutation's id depends on its function and its line, not on the lines before them", () => {
  const idsOf = (text: string) =>
    findMutations({ file: "source.ts", module: "sources", text }, columns).map(({ id }) => id);
  const text = "function f() {\n  return a === b;\n}\n";
  expect(idsOf(`const other = 1;\n${text}`)).toEqual(idsOf(text));
  expect(idsOf(text.replace("f()", "g()"))).not.toEqual(idsOf(text));
  expect(new Set(idsOf(`${text}if (a) {}\nif (a) {}`)).size).toBe(3);
});

test("a run that ended without a failure is not described, so that it counts as no result", () => {
  expect(describeFailure([], "RUN  v4 /tmp/tree")).toBeUndefined();
  expect(describeFailure([], "⎯ Unhandled Error ⎯\nTypeError: a is undefined")).toBe(
    "vitest: TypeError: a is undefined",
  );
  expect(describeFailure([], "Error: Command failed: node scripts/build.ts")).toBe("does not build");
});

test("the program is built for tests that import what starts it, also for those of the emulator", async () => {
  const tree = await mkdtemp(join(tmpdir(), "tidings-mutate-"));
  const isBuilt = (file: string) => {
    prepareProgram(tree, [file]);
    // Without the file, the set-up of the tests builds it.
    return !existsSync(join(tree, programPath));
  };
  try {
    for (const folder of ["test/support", "emulator/test"]) {
      await mkdir(join(tree, folder), { recursive: true });
    }
    await writeFile(join(tree, "test/support/process.ts"), "");
    await writeFile(join(tree, "test/support/starts.ts"), 'import "./process.ts";');
    await writeFile(join(tree, "test/one.test.ts"), 'import "./support/starts.ts";');
    await writeFile(join(tree, "emulator/test/two.test.ts"), 'import "../../test/support/process.ts";');
    await writeFile(join(tree, "test/three.test.ts"), 'import "node:fs";');
    expect(isBuilt("test/one.test.ts")).toBe(true);
    expect(isBuilt("emulator/test/two.test.ts")).toBe(true);
    expect(isBuilt("test/three.test.ts")).toBe(false);
  } finally {
    await rm(tree, { recursive: true });
  }
});

describe("the choice of 80", () => {
  const modules = readModules(".");
  const sources = [...modules.values()].flat();
  const tables = readColumnKinds(".");
  const all = sources.flatMap((source) => findMutations(source, tables));
  const chooseFrom = (found: readonly Mutation[], choice: Partial<MutationChoice> = {}) =>
    choose(found, { seed: 1, count: 80, ...choice }).map(({ id }) => id);
  const chosen = choose(all, { seed: 1, count: 80 });

  test("is the same each time, whatever the order of the files, and begins with that of fewer", () => {
    expect(chooseFrom([...all].reverse())).toEqual(chooseFrom(all));
    expect(chooseFrom(all, { count: 10 })).toEqual(chooseFrom(all).slice(0, 10));
    expect(chooseFrom(all, { seed: 2 })).not.toEqual(chooseFrom(all));
  });

  test("has every module, each operator as often, and no function twice", () => {
    expect(new Set(all.map(({ id }) => id)).size).toBe(all.length);
    // The helper that loads a value once has no condition, boundary or query.
    const mutable = new Set([...modules.keys()].filter((name) => name !== "adapters/load-once"));
    expect(new Set(chosen.map(({ module }) => module))).toEqual(mutable);
    const counts = operators.map((operator) => chosen.filter((one) => one.operator === operator).length);
    expect(Math.max(...counts) - Math.min(...counts)).toBeLessThanOrEqual(2);
    expect(new Set(chosen.map(({ scope }) => scope)).size).toBe(80);
  });

  test("has mutations that parse and change the line that they name", () => {
    for (const mutation of chosen) {
      const text = sources.find(({ file }) => file === mutation.file)?.text ?? "";
      expect(() => parseSource(mutation.file, applyEdit(text, mutation))).not.toThrow();
      expect(diffOf(text, mutation)).toContain(`- ${text.split("\n")[mutation.line - 1]?.trim()}`);
    }
  });

  test("has tests for each, and the reasons are of mutations that exist", () => {
    const tests = readTests(".", modules.keys());
    expect(chosen.filter((mutation) => testsFor(mutation, tests).length === 0)).toEqual([]);
    expect(() => readTests(".", ["platform/none"])).toThrow("scripts/mutate/tests.ts names modules");
    readReasons(".", new Set(all.map(({ id }) => id)));
  });
});
