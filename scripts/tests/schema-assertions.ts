/** Which tests of a former version do not run, or fail, on a newer schema, and why. */

interface LeftOutFiles {
  readonly files: RegExp;
  readonly reason: string;
}

interface SchemaAssertion {
  readonly file: string;
  /** The name of the test, with those of its groups. */
  readonly test: RegExp;
  readonly reason: string;
}

export const leftOut: readonly LeftOutFiles[] = [
  {
    files: /^(architecture|deployment|docs|linter|mutations|packaging|promises|skills|sources|style)\.test/,
    reason: "They read the files of the repository, not the database.",
  },
  { files: /^rows-of\.test/, reason: "It tests the row check, which is left out." },
  { files: /^(docs-pages|console-pages|cli-help)\.test/, reason: "They read pages and texts." },
];

/** Tests that demand exactly the tables and columns of their own version. */
export const asserting: readonly SchemaAssertion[] = [
  {
    file: "retention.test.ts",
    test: /^every table with a time column has a retention/,
    reason: "It names every table of its version.",
  },
  {
    file: "schema-types.test.ts",
    test: /^the generated types of the tables are those of the database/,
    reason: "It compares every column with those of its version.",
  },
];
