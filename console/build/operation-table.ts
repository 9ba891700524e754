/**
 * A module with the method and path of every operation: the catalogue itself stays out of the browser. A
 * variant of an operation has an entry of its own.
 */
import type { Plugin } from "vite";
import { catalogue } from "../../tools/index.ts";

const name = "virtual:operations";
const resolved = `\0${name}`;

export function operationTable(): Plugin {
  const table = Object.entries(catalogue).flatMap(([name, { method, path, also }]) => [
    [name, [method, path]],
    ...also.flatMap((other) =>
      "variant" in other ? [[`${name} ${other.variant}`, [method, other.path]]] : [],
    ),
  ]);
  const code = `export const operations = ${JSON.stringify(Object.fromEntries(table))};`;
  return {
    name: "operation-table",
    resolveId: (id) => (id === name ? resolved : undefined),
    load: (id) => (id === resolved ? code : undefined),
  };
}
