/**
 * The text of a failed tool call: it passes on error responses of two known shapes, and nothing of any other.
 */
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { afterAll, beforeAll, expect, test } from "vitest";
import { clientInfo, useMcpServer } from "./support/mcp-clients.ts";
import type { ScriptedResponse } from "./support/scripted-service.ts";

const server = useMcpServer();
const client = new Client(clientInfo);
beforeAll(async () => {
  const requestInit = { headers: { "x-api-key": "sk_live_all" } };
  await client.connect(new StreamableHTTPClientTransport(new URL(server.url), { requestInit }));
});
afterAll(() => client.close());

async function textOf(answer: ScriptedResponse, name = "get_contact"): Promise<unknown> {
  server.upstream.respond = () => answer;
  const result = await client.callTool({ name, arguments: { id: "con_1" } });
  expect(result).toMatchObject({ isError: true });
  expect(result).not.toHaveProperty("structuredContent");
  // Every result has texts.
  return (result as { content: { text: string }[] }).content.map(({ text }) => text).join();
}

const envelope = (type: string) => ({
  error: {
    type,
    code: "wallet_empty",
    message: "The wallet is empty.",
    fix: "Top it up.",
    details: [{ field: "amount", code: "too_small", message: "At least 5" }],
    wallet_id: "wal_1",
    request_id: "req_1",
  },
});
const problem = {
  type: "https://db.internal/errors/1",
  title: "No such contact",
  detail: "con_1 was erased",
  stack: "at /app/src/db.ts:3",
};
const trace = 'Error: relation "contacts" does not exist\n    at query (/app/src/db.ts:3:4)';
const notFound =
  "get_contact failed: http_404 (404). The service answered 404 Not Found. Next: Find the id with the list tool of this resource.";
const broken =
  "get_contact failed: http_500 (500). The service answered 500 Internal Server Error. Next: Try again in a moment.";

const html = { "content-type": "text/html" };
const problemJson = { "content-type": "application/problem+json; charset=utf-8" };

test("an empty list of the error is left out", async () => {
  const { error } = envelope("not_found");
  const body = { error: { ...error, suggestions: [], known: ["a"] } };
  const text = await textOf({ status: 404, body });
  expect(text).toContain('known: ["a"].');
  expect(text).not.toContain("suggestions");
});

test.each<[string, ScriptedResponse, string]>([
  [
    "our envelope, 404",
    { status: 404, body: envelope("not_found") },
    'get_contact failed: wallet_empty (404). The wallet is empty. Field amount: At least 5. wallet_id: "wal_1". Next: Top it up. Request id req_1.',
  ],
  [
    "our envelope, 500: without further facts",
    { status: 500, body: envelope("internal") },
    "get_contact failed: wallet_empty (500). The wallet is empty. Field amount: At least 5. Next: Top it up. Request id req_1.",
  ],
  [
    "our envelope with a detail that the message names: what to send for it",
    {
      status: 400,
      body: {
        error: {
          type: "invalid_request",
          code: "invalid_request",
          fix: "Correct the named fields.",
          message: "The request is not valid: amount: At least 5",
          details: [{ field: "amount", code: "too_small", message: "At least 5", fix: "Send at least 5." }],
        },
      },
    },
    "get_contact failed: invalid_request (400). The request is not valid: amount: At least 5. Send at least 5. Next: Correct the named fields.",
  ],
  [
    "problem details, 404: title and detail",
    { status: 404, headers: problemJson, body: problem },
    "get_contact failed: http_404 (404). No such contact: con_1 was erased. Next: Find the id with the list tool of this resource.",
  ],
  ["problem details, 500", { status: 500, headers: problemJson, body: problem }, broken],
  ["problem details without their content type", { status: 404, body: problem }, notFound],
  ["a page, 404", { status: 404, headers: html, body: "<h1>nginx 10.0.0.3</h1>" }, notFound],
  ["a page, 500", { status: 500, headers: html, body: "<h1>nginx 10.0.0.3</h1>" }, broken],
  ["a stack trace, 404", { status: 404, headers: { "content-type": "text/plain" }, body: trace }, notFound],
  ["a stack trace, 500", { status: 500, headers: { "content-type": "text/plain" }, body: trace }, broken],
  ["JSON of another shape, 404", { status: 404, body: { message: trace, code: "db" } }, notFound],
  ["JSON of another shape, 500", { status: 500, body: { message: trace, code: "db" } }, broken],
  ["an error of an unknown type, 404", { status: 404, body: envelope("db_error") }, notFound],
  ["an error of an unknown type, 500", { status: 500, body: envelope("db_error") }, broken],
  ["an empty body, 404", { status: 404, body: "" }, notFound],
  ["an empty body, 500", { status: 500, body: "" }, broken],
  [
    "a status without a name",
    { status: 499, body: "" },
    "get_contact failed: http_499 (499). The service answered 499. Next: Correct the arguments and call again.",
  ],
])("%s", async (_, answer, text) => {
  expect(await textOf(answer)).toBe(text);
});

test("after a write that failed in another shape the text says that it may have run", async () => {
  expect(await textOf({ status: 500, body: trace }, "delete_contact")).toBe(
    "delete_contact failed: http_500 (500). The service answered 500 Internal Server Error. Next: It may have been executed: check with a get or list tool before calling again.",
  );
});

test("keys are redacted: the caller's own by value, others by pattern", async () => {
  const message = "sk_live_all may not do this, sk_live_0123456789abcdef may";
  const error = { type: "permission", code: "forbidden", message, fix: "Use another key." };
  expect(await textOf({ status: 403, body: { error } })).toBe(
    "get_contact failed: forbidden (403). [secret] may not do this, [secret] may. Next: Use another key.",
  );
});

test("the caller's key is redacted when a resource can't be read", async () => {
  const error = { type: "permission", code: "forbidden", message: "sk_live_all may not do this" };
  server.upstream.respond = () => ({ status: 403, body: { error } });
  const read = client.readResource({ uri: "tidings://contacts/con_1" });
  await expect(read).rejects.toThrow("[secret] may not do this.");
});
