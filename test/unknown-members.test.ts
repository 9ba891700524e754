/**
 * Members that an input does not name: rejected at every depth of a tool's arguments, and in the
 * objects of a REST body.
 */
import { describe, expect, test } from "vitest";
import {
  Failure,
  nearestName,
  type Operation,
  requireKnownMembers,
  toJsonSchema,
  toolMappingsOf,
} from "../tools/contract/index.ts";
import { inboxes } from "../tools/inboxes.ts";
import { catalogue } from "../tools/index.ts";
import { useTestApp } from "./support/app.ts";
import { isOpenObject, nest, placesOf } from "./support/places.ts";

const app = useTestApp();

/** Each object inside the input of an operation or a tool. */
const objects = Object.entries<Operation>(catalogue).flatMap(([name, operation]) =>
  [operation, ...Object.values(toolMappingsOf(name, operation))].flatMap(({ input }) =>
    [...placesOf(toJsonSchema(input, "input"))]
      .filter(({ path, schema }) => path.length > 0 && schema.type === "object")
      .map(({ path, schema }) => ({ input, path, schema, label: `${name}: ${path.join(".")}` })),
  ),
);
const closed = objects.filter(({ schema }) => !isOpenObject(schema));

test("every object of every input that is not an open map is closed in its schema", () => {
  const fields = new Set(closed.map(({ label }) => label));
  expect([...fields]).toEqual(expect.arrayContaining(["create_inbox: settings", "send_message: text"]));
  expect(closed.filter(({ schema }) => schema.additionalProperties !== false)).toEqual([]);
});

test.each(closed)("an unknown member is rejected in $label", ({ input, path }) => {
  const value = nest(path, { no_such_member: 1 }) as Record<string, unknown>;
  const failure = catchFailure(() => requireKnownMembers(input, value));
  expect(failure).toMatchObject({
    code: "unknown_argument",
    detail: { param: `${path.join(".").replace(/\.(\d+)/g, "[$1]")}.no_such_member` },
  });
});

test("an open map takes any member", () => {
  const open = objects.filter(({ schema }) => isOpenObject(schema));
  expect(open.map(({ label }) => label)).toContain("create_contact: metadata");
  for (const { input, path } of open) {
    requireKnownMembers(input, nest(path, { no_such_member: { nested: 1 } }) as Record<string, unknown>);
  }
});

describe("a misspelt setting changes nothing, and the error names its path and the right name", () => {
  const settings = { service_windw: "strict", stop_reply: "Bye" };
  const error = {
    code: "unknown_argument",
    message: "Unknown argument: settings.service_windw.",
    param: "settings.service_windw",
    suggestions: ["service_window"],
    details: [{ field: "settings.service_windw", fix: "Did you mean service_window?" }],
  };

  test.each(["a REST body", "a tool call"])("in %s", async (transport) => {
    const {
      data: [inbox],
    } = await app.call(inboxes.list_inboxes, {});
    const id = inbox?.id ?? "";
    await app.call(inboxes.update_inbox, { id, settings: { service_window: "advisory" } });
    const answer =
      transport === "a REST body"
        ? await app.fetch(`/v1/inboxes/${id}`, { method: "PUT", json: { settings } })
        : await app.fetch("/v1/mcp/tools/call", {
            method: "POST",
            json: { name: "update_inbox", arguments: { id, settings } },
          });
    expect(answer.status).toBe(400);
    expect(await answer.json()).toMatchObject({ error });
    const listed = await app.call(inboxes.list_inboxes, {});
    expect(listed.data[0]?.settings).toEqual({ service_window: "advisory" });
  });
});

test("members in lists are named by their place, each with its suggestion", async () => {
  const buttons = [
    { id: "a", title: "A" },
    { id: "b", title: "B", titel: "C", zzz: 1 },
  ];
  const call = {
    name: "send_interactive_message",
    arguments: { to: "+14155550123", body: "Which?", buttons },
  };
  const answer = await app.fetch("/v1/mcp/tools/call", { method: "POST", json: call });
  expect(await answer.json()).toMatchObject({
    error: {
      code: "unknown_argument",
      value: "buttons[1].titel, buttons[1].zzz",
      known: "id, title",
      suggestions: ["title"],
      details: [{ field: "buttons[1].titel", fix: "Did you mean title?" }, { field: "buttons[1].zzz" }],
    },
  });
});

test("the nearest name is suggested only if it resembles what was sent", () => {
  const known = ["service_window", "stop_words", "id"];
  expect(nearestName("serviceWindow", known)).toBe("service_window");
  expect(nearestName("stop_word", known)).toBe("stop_words");
  expect(nearestName("colour", known)).toBeUndefined();
  expect(nearestName("x".repeat(100_000), known)).toBeUndefined();
});

function catchFailure(work: () => void): Failure | undefined {
  try {
    work();
    return undefined;
  } catch (error) {
    return error instanceof Failure ? error : undefined;
  }
}
