/** Nothing internal leaks from a failure: what is a service's own is taken out, and what is said stays. */
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { CallFailure } from "../src/client/index.ts";
import { conceal, concealFailure } from "../src/mcp/conceal.ts";
import { type Leak, leak, leaks, prose } from "./support/leaks.ts";
import { type Connected, connect, useFace } from "./support/mcp-face.ts";

const kinds = Object.keys(leaks);
const anyLeak = fc.constantFrom(...kinds).chain((kind) => leaks[kind] ?? fc.constant(leak("")));
const sentence = fc.constantFrom(...prose);
/** How the two stand together: each on its own line, or in the same. */
const joint = fc.constantFrom("\n", "\n\n", " ");
const failure = fc.array(fc.tuple(sentence, fc.option(anyLeak, { freq: 4 }), joint), {
  minLength: 1,
  maxLength: 4,
});

function join([said, inner, between]: [string, Leak | null, string]): string {
  const isBlock = inner?.text.includes("\n");
  const end = isBlock ? "\n" : between === " " ? ". " : between;
  return inner ? `${said}${between}${inner.text}${end}` : `${said}${between}`;
}

test("1,000 failures of prose and internals: no internal is left, and the prose is", () => {
  const property = fc.property(failure, (parts) => {
    const shown = conceal(parts.map(join).join(""));
    for (const [said, inner] of parts) {
      expect(shown).toContain(said);
      for (const secret of inner?.secrets ?? []) {
        expect(shown.replaceAll(new RegExp(prose.map(literal).join("|"), "g"), "")).not.toContain(secret);
      }
    }
  });
  fc.assert(property, { seed: 20260314, numRuns: 1_000 });
});

test.each(kinds)("%s: in the middle of a line, and in a caller's own words", (kind) => {
  const property = fc.property(leaks[kind] ?? fc.constant(leak("")), ({ text, secrets }) => {
    const shown = conceal(`It failed: ${text}`);
    for (const secret of secrets) {
      expect(shown).not.toContain(secret);
    }
    expect(shown).toMatch(/^It failed: /);
  });
  fc.assert(property, { seed: 7, numRuns: 50 });
});

test.each(prose)("%s: it is left as it is", (said) => {
  expect(conceal(said)).toBe(said);
  expect(conceal(`${said}\n${said}`)).toBe(`${said}\n${said}`);
});

function literal(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
}

test("what the caller gave stays, and what stands beside it does not", () => {
  const given = ["http://10.0.0.5:9000/menu.pdf", "see /home/ann/menu.pdf"];
  const text =
    "Could not read http://10.0.0.5:9000/menu.pdf from 10.9.8.7:3128: /home/ann/menu.pdf, /home/app/menu.ts.";
  expect(conceal(text, given)).toBe(
    "Could not read http://10.0.0.5:9000/menu.pdf from [hidden]: /home/ann/menu.pdf, [hidden].",
  );
});

test.each([
  "a/".repeat(8_000),
  "a.".repeat(8_000),
  "a-".repeat(8_000),
  "a:".repeat(8_000),
  "select ".repeat(2_000),
  "SELECT a(".repeat(2_000),
  "at ".repeat(5_000),
  "<html ".repeat(3_000),
  "host=".repeat(3_000),
  "([".repeat(8_000),
  "x".repeat(20_000),
  " \n".repeat(8_000),
  "'".repeat(10_000),
  "1.".repeat(8_000),
])("a text made to be slow is read to its end (%#)", (text) => {
  expect(conceal(text)).toEqual(expect.any(String));
});

describe("a failure", () => {
  const asked = { arguments: { id: "con_1" } };
  const refuse = (status: number, message: string, error = {}) =>
    concealFailure(
      new CallFailure({
        status,
        code: "db",
        message,
        error: { type: "internal", code: "db", message, ...error },
      }),
      asked,
    );

  test("of which nothing useful is left is told in our own sentence", () => {
    expect(refuse(500, "connect ECONNREFUSED 10.0.0.5:5432").message).toBe(
      "The service answered 500 Internal Server Error.",
    );
    expect(refuse(404, "Not found.").message).toBe("Not found.");
  });

  test("keeps its further members, without what is internal in them and without those that are", () => {
    const { error } = refuse(422, "No such thing here.", {
      fix: "Ask 10.0.0.5 again in a minute.",
      stack: "anything",
      existing_id: "con_2",
      retries: 3,
      cause: { host: "db", text: "at 10.0.0.5" },
      details: [{ field: "a", code: "x", message: "It must be shorter: /app/src/check.ts:3" }],
    });
    expect(error).toEqual({
      type: "internal",
      code: "db",
      message: "No such thing here.",
      fix: "Ask [hidden] again in a minute.",
      existing_id: "con_2",
      retries: 3,
      cause: {},
      details: [{ field: "a", code: "x", message: "It must be shorter: [hidden]" }],
    });
  });
});

describe("through the face", () => {
  const face = useFace();
  let client: Connected;
  beforeAll(async () => {
    client = await connect(face.url);
  });
  afterAll(() => client.close());

  test("a tool's failure says what a caller can use", async () => {
    const message =
      "The wallet is empty.\nselect * from wallets where org = $1\n    at pay (/app/src/pay.js:3:4) sk_live_all";
    const error = {
      type: "internal",
      code: "internal",
      message,
      fix: "Ask postgres://a:b@db:5432/x, then top up the wallet.",
      sql: "x",
    };
    face.upstream.answer = () => ({ status: 500, body: { error } });
    const result = await client.callTool({ name: "get_contact", arguments: { id: "con_1" } });
    expect(result).toMatchObject({
      isError: true,
      content: [
        {
          text: "get_contact failed: internal (500). The wallet is empty. [hidden] [secret]. Next: Ask [hidden], then top up the wallet.",
        },
      ],
    });
  });
});
