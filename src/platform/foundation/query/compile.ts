/**
 * Compiles a query to SQL with the same meaning as `matchesQuery`.
 *
 * Every value of the query, and every name in a metadata path, is a parameter: the text of the SQL consists
 * of the fragments in this folder and of the sources. A part may be null instead of false; only `negate` has
 * to distinguish null from false.
 */
import { sql } from "kysely";
import type { QueryOperator } from "../../../../tools/cohorts/index.ts";
import { negate, type Predicate } from "./predicate.ts";
import { type Condition, opposites, type PositiveCondition, type Query } from "./query.ts";
import type { RelatedRows, Source, SourceContext, Sources } from "./source.ts";

export interface CompileContext extends SourceContext {
  /** Keyed by attribute, like the attributes with which the query was parsed. */
  readonly sources: Sources;
  readonly related: RelatedRows;
}

/** A part of a query that can be met on its own, and the places of its conditions in the query. */
export interface Unit {
  readonly paths: readonly string[];
  readonly predicate: Predicate;
}

/** The condition for the rows that the sources refer to, which the statement must select from. */
export function compileQuery(query: Query, context: CompileContext): Predicate {
  if (query.kind === "or") {
    return join(
      query.queries.map((part) => compileQuery(part, context)),
      sql` or `,
    );
  }
  if (query.kind === "not") {
    return negate(compileQuery(query.query, context));
  }
  return allOf(compileUnits(query, { context, path: "" }).map(({ predicate }) => predicate));
}

/** The parts of an `and`, all of which must be met. A query of another kind is a single part. */
export function compileUnits(
  query: Query,
  { context, path }: { readonly context: CompileContext; readonly path: string },
): Unit[] {
  const parts = query.kind === "and" ? query.queries : [query];
  const placed = parts.map((part, index) => ({
    part,
    path: query.kind === "and" ? `${path}.and[${index}]` : path,
  }));
  const units: Unit[] = [];
  const onRelated: { condition: Condition; source: Source; path: string }[] = [];
  for (const { part, path } of placed) {
    if (part.kind !== "condition") {
      units.push({ paths: [path], predicate: compileQuery(part, context) });
      continue;
    }
    const source = sourceOf(part.attribute, context);
    if (source.of === "related") {
      onRelated.push({ condition: part, source, path });
    } else {
      units.push({ paths: [path], predicate: compileCondition(part, source) });
    }
  }
  if (onRelated.length > 0) {
    units.push({
      paths: onRelated.map(({ path }) => path),
      predicate: compileRelated(onRelated, context),
    });
  }
  return units;
}

/** One related row must meet all conditions. If there is no related row, an empty one is assumed. */
function compileRelated(
  conditions: readonly { readonly condition: Condition; readonly source: Source }[],
  context: CompileContext,
): Predicate {
  const met = context.related.exists(
    context,
    allOf(conditions.map(({ condition, source }) => compileCondition(condition, source))),
  );
  const isMetByNone = conditions.every(({ condition }) => isNegative(condition.operator));
  return isMetByNone
    ? sql<boolean>`(${met} or ${negate(context.related.exists(context, sql<boolean>`true`))})`
    : met;
}

function isNegative(operator: QueryOperator): operator is keyof typeof opposites {
  return Object.hasOwn(opposites, operator);
}

function compileCondition(condition: Condition, { test }: Source): Predicate {
  const { operator } = condition;
  if (!isNegative(operator)) {
    // The operator is not negative, so the condition is positive.
    return test(condition as PositiveCondition);
  }
  // An operator and its opposite have operands of the same family.
  return negate(test({ ...condition, operator: opposites[operator] } as PositiveCondition));
}

function sourceOf(attribute: string, { sources, related: _, ...context }: CompileContext): Source {
  const pattern = Object.keys(sources).find((name) => {
    const start = name.indexOf("<");
    return start < 0 ? name === attribute : attribute.startsWith(name.slice(0, start));
  });
  const source = pattern === undefined ? undefined : sources[pattern];
  if (!source) {
    throw new Error(`The attribute ${attribute} has no source.`);
  }
  return source(context, attribute);
}

function allOf(predicates: readonly Predicate[]): Predicate {
  const [first, ...others] = predicates;
  if (first === undefined) {
    return sql<boolean>`true`;
  }
  return others.length === 0 ? first : join(predicates, sql` and `);
}

function join(predicates: readonly Predicate[], separator: typeof sql | Predicate): Predicate {
  return sql<boolean>`(${sql.join(predicates, separator as Predicate)})`;
}
