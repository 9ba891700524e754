/** Finds every possible mutation of a source. */

import {
  describeEdit,
  type Edit,
  lineAt,
  lineOf,
  type Mutation,
  mutationId,
  type OperatorName,
  operators,
} from "../mutation.ts";
import { findBoundaries } from "./boundary.ts";
import type { ColumnKinds } from "./columns.ts";
import { findConditions } from "./condition.ts";
import { findAwaits } from "./dropped-await.ts";
import { findIgnored } from "./ignored.ts";
import { contains, findFunctions, innermost, type ParsedSource, parseSource } from "./source.ts";
import { findTenantConditions } from "./tenant.ts";
import { findColumns } from "./wrong-column.ts";

const findEdits: Readonly<Record<OperatorName, (source: ParsedSource, columns: ColumnKinds) => Edit[]>> = {
  condition: findConditions,
  boundary: findBoundaries,
  "dropped-await": findAwaits,
  "dropped-tenant-condition": findTenantConditions,
  "wrong-column": findColumns,
};

export interface SourceFile {
  readonly file: string;
  readonly module: string;
  readonly text: string;
}

export function findMutations({ file, module, text }: SourceFile, columns: ColumnKinds): Mutation[] {
  const source = parseSource(file, text);
  const functions = findFunctions(source);
  const ignored = findIgnored(source);
  const seen = new Map<string, number>();
  return operators.flatMap((operator) =>
    findEdits[operator](source, columns)
      .filter((edit) => !ignored.some((range) => contains(range, edit)))
      .map((edit) => {
        const { name = "", start = 0 } = innermost(functions, edit) ?? {};
        const old = text.slice(edit.start, edit.end);
        const place = [name, lineOf(text, edit), old, edit.replacement];
        const key = JSON.stringify([operator, ...place]);
        const number = seen.get(key) ?? 0;
        seen.set(key, number + 1);
        return {
          ...edit,
          id: mutationId(operator, file, ...place, number),
          operator,
          module,
          file,
          line: lineAt(text, edit),
          scope: `${file}:${name}:${start}`,
          description: describeEdit(text, edit),
        };
      }),
  );
}
