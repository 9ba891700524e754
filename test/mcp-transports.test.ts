/**
 * A tool call is served in the same way within the process, by /mcp of the service, as over HTTP, by a
 * server in front of it.
 */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createRunningRequests } from "../src/http/operations/running.ts";
import { createToolFilter, defaultToolFilterSettings, tools } from "../src/mcp/tool-list/index.ts";
import { allScopes } from "../tools/contract/index.ts";
import { ownerKey, useTestApp } from "./support/app.ts";
import { png } from "./support/files.ts";
import { iterations } from "./support/iterations.ts";
import { postRequest, serveMcpHttp } from "./support/mcp-clients.ts";
import { startWaiting } from "./support/waiting.ts";

const metricsToken = "a-token-of-the-operator";

const app = useTestApp({ env: { TIDINGS_TOOL_MODE: "all", TIDINGS_METRICS_TOKEN: metricsToken } });

let inFront: Awaited<ReturnType<typeof serveMcpHttp>>;
beforeAll(async () => {
  const toolFilter = createToolFilter(tools, { ...defaultToolFilterSettings, mode: "all" });
  const identity = { credentialId: "key_1", scopes: new Set(allScopes), count: () => undefined };
  inFront = await serveMcpHttp({ url: app.address }, { toolFilter }, () => ({
    maxMessages: 100,
    identify: async () => identity,
  }));
});
afterAll(() => inFront.close());

type Arguments = Readonly<Record<string, unknown>>;

interface JsonSchema {
  readonly type?: string;
  readonly enum?: readonly unknown[];
  readonly minimum?: number;
  readonly items?: JsonSchema;
  readonly anyOf?: readonly JsonSchema[];
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
}

const samples: Readonly<Record<string, (schema: JsonSchema) => unknown>> = {
  string: () => "+14155550100",
  integer: ({ minimum = 0 }) => Math.max(0, minimum),
  number: ({ minimum = 0 }) => Math.max(0.5, minimum),
  boolean: () => true,
  array: ({ items = {} }) => [sampleOf(items)],
  object: ({ properties = {}, required = [] }) =>
    Object.fromEntries(required.map((name) => [name, sampleOf(properties[name] ?? {})])),
};

function sampleOf(schema: JsonSchema): unknown {
  const { type = "", enum: values, anyOf } = schema;
  return values ? values[0] : anyOf?.[0] ? sampleOf(anyOf[0]) : (samples[type]?.(schema) ?? null);
}

/**
 * Without arguments, with those that are required, with others in addition, one by one, and with
 * one that is unknown.
 */
function variantsOf(schema: JsonSchema): Arguments[] {
  const { properties = {}, required = [] } = schema;
  const sampled = Object.fromEntries(Object.entries(properties).map(([name, one]) => [name, sampleOf(one)]));
  const waiting = "timeout_seconds" in properties ? { timeout_seconds: 0 } : {};
  const needed = { ...pick(sampled, required), ...waiting };
  const others = Object.keys(sampled).filter((name) => !(name in needed));
  return [
    waiting,
    needed,
    ...others.slice(0, iterations(2, others.length)).map((name) => ({ ...needed, [name]: sampled[name] })),
    { ...needed, unknown_field: 1 },
  ];
}

function pick(values: Arguments, names: readonly string[]): Arguments {
  return Object.fromEntries(names.map((name) => [name, values[name]]));
}

/**
 * The response, without request ids and cursors, which differ each time. Calls with the same idempotency
 * key have one effect.
 */
async function call(url: string, name: string, input: Arguments, idempotencyKey: string): Promise<unknown> {
  const _meta = { "io.tidings/idempotency-key": idempotencyKey };
  const params = { name, arguments: input, _meta };
  const text = await postRequest(url, ownerKey, { method: "tools/call", params });
  return JSON.parse(text.replace(/^[^{]*data: /s, "").replaceAll(differing, ""));
}

const differing = /req_[\w-]+|(?<=cursor\\?":\\?")[^"\\]+/g;

/** Calls the tool within the process and over HTTP. */
async function callBoth(name: string, input: Arguments, idempotencyKey: string) {
  const within = await call(`${app.address}/mcp`, name, input, idempotencyKey);
  const overHttp = await call(inFront.url, name, input, idempotencyKey);
  return { within, overHttp };
}

/** Each call of a tool is in the list of acts, so two calls get different lists. */
const comparable = tools.filter(({ name }) => name !== "list_activity");

test.each(comparable.map(({ name, definition }) => ({ name, schema: definition.inputSchema as JsonSchema })))(
  "$name gives the same result over both transports",
  async ({ name, schema }) => {
    for (const [index, input] of variantsOf(schema).entries()) {
      const { within, overHttp } = await callBoth(name, input, `${name} ${index}`);
      expect(within, JSON.stringify(input)).toEqual(overHttp);
      expect(within).toHaveProperty("result.content");
    }
  },
);

describe("the same over both transports", () => {
  const file_name = 'in "voice".png';
  test.each<[string, string, Arguments, string]>([
    [
      "a contact with all kinds of values, which is created once",
      "create_contact",
      {
        phone_number: "+14155550151",
        metadata: { text: "é\u2028👋", none: null, list: [1.5] },
      },
      "+14155550151",
    ],
    ["a message", "send_message", { to: "+14155550152", body: "Hello" }, "queued"],
    [
      "a file, which is received as a form",
      "upload_file",
      { content_base64: png.toString("base64"), file_name, content_type: "image/png", generate_cdn: true },
      "in voice.png",
    ],
    [
      "a file whose type is another",
      "upload_file",
      { content_base64: png.toString("base64"), file_name: "a.pdf" },
      "file_type_mismatch",
    ],
    ["a query of several types", "list_contacts", { search: "+1 415", per_page: 5, page: 1 }, "per_page"],
    ["an id that is no path segment", "get_contact", { id: ".." }, "is not an id"],
    ["an id that must be escaped", "get_contact", { id: "a/b c?d#é" }, "contact_not_found"],
    [
      "a name that would reach a prototype",
      "create_contact",
      { phone_number: "+14155550153", metadata: JSON.parse('{"a":{"__proto__":{"b":1}}}') },
      "malformed_body",
    ],
    [
      "a large body",
      "add_document",
      { name: "Delivery", source_type: "markdown", content: "A delivery takes three days. ".repeat(2_000) },
      "Delivery",
    ],
  ])("%s", async (title, name, input, part) => {
    const { within, overHttp } = await callBoth(name, input, title);
    expect(within).toEqual(overHttp);
    expect(JSON.stringify(within)).toContain(part);
  });

  test("another request with the same idempotency key is rejected", async () => {
    await call(`${app.address}/mcp`, "create_contact", { phone_number: "+14155550155" }, "reused");
    const { within, overHttp } = await callBoth("create_contact", { phone_number: "+14155550156" }, "reused");
    expect(within).toEqual(overHttp);
    expect(JSON.stringify(within)).toContain("idempotency_key_reused");
  });
});

test("a cancelled read is aborted within the process too", async () => {
  const countEnded = async () => {
    const metrics = await app.fetch("/metrics", {
      key: null,
      headers: { authorization: `Bearer ${metricsToken}` },
    });
    const lines = (await metrics.text()).split("\n");
    const ended = lines.filter((line) => /^tidings_http_requests_total\{.*"wait_for_message"/.test(line));
    return ended.reduce((sum, line) => sum + Number(line.split(" ")[1]), 0);
  };
  const before = await countEnded();
  const controller = new AbortController();
  const params = { name: "wait_for_message", arguments: { timeout_seconds: 55 } };
  const request = { method: "tools/call", params };
  const { answer } = await startWaiting(() =>
    postRequest(`${app.address}/mcp`, ownerKey, request, controller.signal),
  );
  expect(await countEnded()).toBe(before);
  controller.abort();
  await expect(answer).rejects.toThrow();
  await expect.poll(countEnded).toBe(before + 1);
});

describe("requests that are running within the process", () => {
  test("are waited for when the server stops", async () => {
    const running = createRunningRequests();
    const ended: string[] = [];
    let end = () => {};
    const work = running.run(new AbortController().signal, async () => {
      await new Promise<void>((resolve) => {
        end = resolve;
      });
      ended.push("request");
    });
    const idle = running.idle().then(() => ended.push("server"));
    end();
    await Promise.all([work, idle]);
    expect(ended).toEqual(["request", "server"]);
    await running.idle();
  });

  test("are aborted when the time is over, and not waited for any longer", async () => {
    const running = createRunningRequests();
    const signals: AbortSignal[] = [];
    void running.run(new AbortController().signal, (signal) => {
      signals.push(signal);
      return new Promise(() => undefined);
    });
    const idle = running.idle();
    running.abort();
    await Promise.all([idle, running.idle()]);
    expect(signals.map(({ aborted }) => aborted)).toEqual([true]);
  });
});
