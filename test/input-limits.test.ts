/** Rules for the size of every operation's input: everything has a maximum, and nothing large costs much. */
import { sql } from "kysely";
import { describe, expect, test } from "vitest";
import { operationsOf } from "../src/platform/index.ts";
import {
  failInput,
  inputMessages,
  type Operation,
  pathFields,
  toJsonSchema,
  toolMappingsOf,
} from "../tools/contract/index.ts";
import { catalogue } from "../tools/index.ts";
import { useTestApp } from "./support/app.ts";
import { iterations } from "./support/iterations.ts";
import { isOpenObject, largest, members, nest, type Path, type Place, placesOf } from "./support/places.ts";

const operations: [string, Operation][] = Object.entries(catalogue);

/** The input of every operation, and of every tool that has another. */
const inputs = operations.flatMap(([name, operation]) =>
  [operation, ...Object.values(toolMappingsOf(name, operation))].map(({ input }) => ({ name, input })),
);

const places = inputs.flatMap(({ name, input }) =>
  [...placesOf(toJsonSchema(input, "input"))].map((place) => ({
    ...place,
    name,
    input,
    label: `${name}: ${place.path.join(".")}`,
  })),
);

test("every text of every input has a maximum length, every list a maximum, and every value a type", () => {
  const unbounded = places.filter(
    ({ schema: { type, anyOf, enum: values, maxLength, maxItems } }) =>
      (type === undefined && anyOf === undefined && values === undefined) ||
      (type === "string" && values === undefined && maxLength === undefined) ||
      (type === "array" && maxItems === undefined),
  );
  expect(unbounded.map(({ label }) => label)).toEqual([]);
});

const manyMembers = members(iterations(20_000, 100_000));

describe("a value over its maximum is rejected before what it holds is looked at", () => {
  const large = places.flatMap(({ path, schema, name, input, label }) => {
    const value = isOpenObject(schema) ? manyMembers : Array(Number(schema.maxItems ?? 0) + 1).fill(null);
    return isOpenObject(schema) || schema.type === "array" ? [{ path, value, name, input, label }] : [];
  });

  test.each(large)("$label", ({ path, value, input }) => {
    const issues = input.safeParse(nest(path, value)).error?.issues ?? [];
    const inside = issues.filter((issue) => path.every((step, index) => issue.path[index] === step));
    expect(inside.map((issue) => issue.path)).toEqual([path]);
  });
});

const app = useTestApp();

function readInner(value: unknown, path: Path): unknown {
  // Each step is a member of an object that was just parsed.
  return path.reduce<unknown>(
    (outer, step) => (outer as Readonly<Record<string | number, unknown>>)[step],
    value,
  );
}

describe("a time that ISO 8601 allows is rejected, or stored", () => {
  const oddTimes = [
    "2030-01-01T00:00:00+15:59",
    "2030-01-01T00:00:00-16:00",
    "2030-01-01T00:00:00+16:00",
    "2030-01-01T00:00:00+23:59",
    "2030-01-01T00:00:00+24:00",
    "2030-01-01T00:00:00+0530",
    "9999-12-31T23:59:59-00:01",
    "0000-01-01T00:00:00Z",
    "0001-01-01T00:00:00+01:00",
    "+010000-01-01T00:00:00Z",
    "2030-02-30T00:00:00Z",
    "2030-12-31T23:59:60Z",
    "2030-01-01T24:00:00Z",
    "2030-01-01T00:00Z",
    "2030-W01-1T00:00:00Z",
    `2030-01-01T00:00:00.${"9".repeat(40)}Z`,
  ];
  const times = places.filter(({ schema }) => schema.format === "date-time");

  test.each(times)("$label", async ({ path: [field = "", ...inner], input }) => {
    const outcomes = oddTimes.map((time) => {
      const parsed = input.shape[field]?.safeParse(nest(inner, time));
      return { time, stored: parsed?.success ? String(readInner(parsed.data, inner)) : null };
    });
    const rejected = outcomes.filter(({ stored }) => stored === null).map(({ time }) => time);
    expect(rejected).toEqual(expect.arrayContaining([oddTimes[1], oddTimes[2], oddTimes[3], oddTimes[6]]));
    for (const { time, stored } of outcomes.filter(({ stored }) => stored !== null)) {
      const { rows } = await sql<{ at: string }>`select ${stored}::timestamptz as at`.execute(
        app.server.database.queries,
      );
      expect(
        rows.map(({ at }) => Date.parse(at)),
        time,
      ).toEqual([Date.parse(time)]);
    }
  });
});

/** The default limit of a body is 1,048,576 bytes. */
const budget = 900_000;

/** The JSON of wrong values, of about this many characters. */
const wrongValues: Readonly<Record<string, (length: number) => string>> = {
  "a text": (length) => JSON.stringify("x".repeat(length)),
  "a list": (length) => `[${"1,".repeat(length / 2)}1]`,
  "lists in a list": (length) => `[${"[],".repeat(length / 3)}1]`,
  "many members": (length) => JSON.stringify(members(length / 12)),
  "a nested list": (length) => "[".repeat(length / 2) + "]".repeat(length / 2),
};

/**
 * The same values, each parsed once: parsing takes most of the time of a large body, and no
 * operation changes it.
 */
const parsedWrongValues: readonly [string, unknown][] = Object.entries(wrongValues).map(([kind, write]) => [
  kind,
  JSON.parse(write(budget)),
]);

/** The fields of an operation's body; one that it ignores if it has none. */
function bodyFields({ path, input }: Operation): readonly string[] {
  const fields = Object.keys(input.shape).filter((name) => !pathFields(path).includes(name));
  return fields.length > 0 ? fields : ["other"];
}

/** Inputs against the schema: a large wrong value in every field, and lists that are full of wrong values. */
function wrongInputs(operation: Operation): [string, unknown][] {
  const fields = bodyFields(operation);
  const inEveryField = parsedWrongValues.map(([kind, value]): [string, unknown] => [
    kind,
    Object.fromEntries(fields.map((name) => [name, value])),
  ]);
  const fullLists = [...placesOf(toJsonSchema(operation.input, "input"))].flatMap((place) =>
    place.schema.type === "array" ? [fullList(place)] : [],
  );
  return [...inEveryField, ...fullLists];
}

function fullList({ path, schema }: Place): [string, unknown] {
  const nulls = Array(Number(schema.maxItems)).fill(null);
  return [`a full list in ${path.join(".")}`, nest(path, nulls)];
}

/** Bodies against the schema, as large as a body may be. */
function wrongBodies(operation: Operation): [string, string][] {
  const fields = bodyFields(operation);
  return Object.entries(wrongValues).map(([kind, write]) => {
    const value = write(Math.floor(budget / fields.length));
    return [kind, `{${fields.map((name) => `"${name}":${value}`).join()}}`];
  });
}

const built: [string, Operation][] = Object.entries(operationsOf());
const withBody = built.filter(([, { method }]) => method !== "GET" && method !== "DELETE");

/** All operations of one kind read and check a body in the same way. */
const kindOf = ({ credential, effect, encoding }: Operation) => [credential, effect, encoding].join();

/** Whether the wrong bodies are also sent to the operation: to the first of its kind, with SOAK to five. */
function receivesWrongBodies(operation: Operation): boolean {
  const ofKind = withBody.filter(([, other]) => kindOf(other) === kindOf(operation));
  return ofKind.slice(0, iterations(1, 5)).some(([, other]) => other === operation);
}

describe("the answer to the largest inputs is small", () => {
  test.each(withBody)("%s", async (_, operation) => {
    for (const [kind, input] of wrongInputs(operation)) {
      const { issues = [] } = operation.input.safeParse(input, { error: inputMessages }).error ?? {};
      expect(issues.length, kind).toBeLessThan(1_000);
      expect(Buffer.byteLength(JSON.stringify(failInput(issues, input).body())), kind).toBeLessThan(20_000);
    }
    const largestInput = largest(toJsonSchema(operation.input, "input"), budget);
    await expectSmallAnswer(operation, "everything at its maximum", { body: JSON.stringify(largestInput) });
    for (const [kind, body] of receivesWrongBodies(operation) ? wrongBodies(operation) : []) {
      await expectSmallAnswer(operation, kind, { body });
    }
  });

  test.each(built.filter(([, { method }]) => method === "GET" || method === "DELETE"))(
    "%s",
    async (_, operation) => {
      const fields = Object.keys(operation.input.shape);
      const length = 10_000 / Math.max(1, fields.length);
      const query = fields.map((field) => `${field}=${"x".repeat(length)}`).join("&");
      await expectSmallAnswer(operation, "text", { query });
      const repeated = fields.map((field) => `${field}=1&`.repeat(length / (field.length + 3))).join("");
      await expectSmallAnswer(operation, "repeated", { query: repeated });
    },
  );
});

async function expectSmallAnswer(
  { method, path }: Operation,
  kind: string,
  { body, query = "" }: { readonly body?: string; readonly query?: string },
): Promise<void> {
  const answer = await app.fetch(`${path.replace(/\{\w+\}/g, "x".repeat(64))}?${query}`, {
    method,
    ...(body === undefined ? {} : { body, headers: { "content-type": "application/json" } }),
  });
  const { byteLength } = await answer.arrayBuffer();
  expect(answer.status, kind).toBeLessThan(500);
  // An operation that succeeds may return what it was sent.
  expect(byteLength, kind).toBeLessThan(answer.ok ? 1_100_000 : 20_000);
}
