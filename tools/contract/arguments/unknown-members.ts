/**
 * Rejects members that an input's schema does not name.
 *
 * Zod drops unknown members silently, and a misspelt member of an object that replaces another, such as the
 * settings of an inbox, would be lost. A tool's arguments are checked at every depth, and a REST body from
 * its first nested object on. Unknown fields of the body itself and of the query are ignored, and the
 * response names them.
 */
import { z } from "zod";
import type { ErrorDetail } from "../errors/index.ts";
import { type Failure, failRequest } from "../failure.ts";
import { unwrap } from "../json-schema/index.ts";
import { nearestName } from "./nearest.ts";

interface UnknownMember {
  /** The place of the member, for example `settings.service_windw`. */
  readonly path: string;
  readonly name: string;
  /** The names that the object may have. */
  readonly known: readonly string[];
}

/** The most members that an error names. */
const maxNamed = 20;

/** @throws Failure `unknown_argument`, with the nearest names. Expects a value that the schema accepts. */
export function requireKnownMembers(schema: z.ZodObject, value: Readonly<Record<string, unknown>>): void {
  throwIfAny(nestedUnknown(schema, value, ""));
}

/** Like `requireKnownMembers`, but also checks the members of the object itself. */
export function requireKnownArguments(schema: z.ZodObject, value: Readonly<Record<string, unknown>>): void {
  throwIfAny(unknownMembers(schema, value, ""));
}

/** Describes the fields of a body or a query that its operation does not have, as the details of an error. */
export function describeUnknownFields(
  schema: z.ZodObject,
  value: Readonly<Record<string, unknown>>,
): readonly ErrorDetail[] {
  const found = takeFirst(unknownMembers(schema, value, ""));
  return found[0] ? (failUnknown(found[0], found).detail.details ?? []) : [];
}

function throwIfAny(unknown: Iterable<UnknownMember>): void {
  const found = takeFirst(unknown);
  if (found[0]) {
    throw failUnknown(found[0], found);
  }
}

function takeFirst(unknown: Iterable<UnknownMember>): readonly UnknownMember[] {
  const found: UnknownMember[] = [];
  for (const member of unknown) {
    found.push(member);
    if (found.length === maxNamed) {
      break;
    }
  }
  return found;
}

function failUnknown(first: UnknownMember, all: readonly UnknownMember[]): Failure {
  const near = (member: UnknownMember) => nearestName(member.name, member.known);
  const suggestions = [...new Set(all.flatMap((member) => near(member) ?? []))];
  return failRequest("unknown_argument", {
    value: all.map(({ path }) => path).join(", "),
    known: first.known.join(", ") || "none",
    param: first.path,
    ...(suggestions.length === 0 ? {} : { suggestions }),
    details: all.map((member) => {
      const suggestion = near(member);
      return {
        field: member.path,
        code: "unknown_argument",
        message: `Unknown argument: ${member.path}.`,
        ...(suggestion === undefined
          ? { fix: "Remove it." }
          : { fix: `Did you mean ${suggestion}?`, suggestions: [suggestion] }),
      };
    }),
  });
}

function* unknownIn(schema: z.core.$ZodType, value: unknown, path: string): Generator<UnknownMember> {
  const inner = unwrap(schema);
  if (inner instanceof z.ZodArray && Array.isArray(value)) {
    for (const [index, item] of value.entries()) {
      yield* unknownIn(inner.element, item, `${path}[${index}]`);
    }
  } else if (inner instanceof z.ZodObject && isRecord(value)) {
    yield* unknownMembers(inner, value, `${path}.`);
    yield* nestedUnknown(inner, value, `${path}.`);
  }
}

function* nestedUnknown(
  schema: z.ZodObject,
  value: Readonly<Record<string, unknown>>,
  prefix: string,
): Generator<UnknownMember> {
  for (const [name, field] of Object.entries(schema.shape)) {
    yield* unknownIn(field, value[name], prefix + name);
  }
}

function* unknownMembers(
  schema: z.ZodObject,
  value: Readonly<Record<string, unknown>>,
  prefix: string,
): Generator<UnknownMember> {
  const known = Object.keys(schema.shape);
  for (const name of Object.keys(value)) {
    if (!Object.hasOwn(schema.shape, name)) {
      yield { path: prefix + name, name, known };
    }
  }
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null;
}
