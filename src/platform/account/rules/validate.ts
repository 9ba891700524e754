/** Checks what the schema of rules does not: the names of operations, and conditions. */
import { nearestName, type Operation, toolMappingsOf } from "../../../../tools/contract/index.ts";
import { failField } from "../../../../tools/errors.ts";
import { catalogue } from "../../../../tools/index.ts";
import type { Rules } from "../../../../tools/rules.ts";
import { parseConditionsOfRules } from "./check.ts";

/** The operations that a key may call: the others take a signed-in person, the operator or nobody. */
const callable = Object.entries<Operation>(catalogue).filter(([, { credential }]) => credential === "any");

/** The operation of each tool that has another name. */
const operationOfTool = new Map(
  callable.flatMap(([name, operation]) =>
    Object.keys(toolMappingsOf(name, operation)).map((tool) => [tool, name] as const),
  ),
);

const names = callable.map(([name]) => name);

/** @throws Failure `operation_unknown`, or one of the query language, that names the place. */
export function requireValidRules(rules: Rules | null, field: string): void {
  if (rules?.allow.when) {
    parseConditionsOfRules(rules.allow.when, `${field}.allow.when`);
  }
  for (const [index, value] of (rules?.allow.operations ?? []).entries()) {
    if (!names.includes(value)) {
      const nearest = operationOfTool.get(value) ?? nearestName(value, names);
      const hint = nearest === undefined ? "" : ` Did you mean ${nearest}?`;
      throw failField(`${field}.allow.operations[${index}]`, "operation_unknown", { value, hint });
    }
  }
}
