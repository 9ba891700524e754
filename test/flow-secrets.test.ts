/** Secret headers: sent, kept where null is sent back, and never shown. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { InputOf } from "../tools/contract/index.ts";
import { flows } from "../tools/flows/index.ts";
import { startTestApp, useTestApp } from "./support/app.ts";
import { lendTestDatabase } from "./support/database.ts";
import { expectFailure } from "./support/expect-failure.ts";
import { findColumns } from "./support/find-columns.ts";
import { createCallHelpers, createWebProbe, localSources } from "./support/flow-calls.ts";
import type { NewNode } from "./support/flows.ts";
import { createOrganizationFor } from "./support/operator.ts";
import { startUpstream, type Upstream } from "./support/scripted-service.ts";

const secret = "Bearer hush-1234567890";
const logged: unknown[] = [];
const keep = (...entry: unknown[]) => {
  logged.push(entry);
};
const log = { debug: keep, info: keep, warn: keep, error: keep };
const { enabledModules } = createWebProbe();
const app = useTestApp({ env: localSources, enabledModules, log });
const { create, start } = createCallHelpers(app);

let upstream: Upstream;
beforeAll(async () => {
  // It shows the secret that it got, as services for debugging do.
  upstream = await startUpstream(({ headers }) => ({
    status: headers.authorization === secret ? 200 : 401,
    body: { echo: headers.authorization ?? null, list: [`got ${headers.authorization}`] },
  }));
});
afterAll(() => upstream[Symbol.asyncDispose]());

type Secrets = Record<string, string | null>;

/** A flow of one call. */
function call(
  secret_headers: Secrets | undefined,
  fields: Partial<NewNode> = {},
  url = upstream.url,
): NewNode[] {
  const config = { url, save_as: "answer", ...(secret_headers && { secret_headers }) };
  return [{ id: "call", node_type: "http_request", action_config: config, ...fields }];
}

/** The status that the endpoint answers to a run of the flow. */
async function statusOf(flow_id: string): Promise<unknown> {
  const { run } = await (await start(flow_id)).run();
  const { answer } = (run?.variables ?? {}) as { answer?: { status: number } };
  return answer?.status ?? run?.reason;
}

const update = (id: string, nodes: NewNode[]) => app.call(flows.update_flow, { id, nodes });

describe("a secret header", () => {
  test("is sent, and no answer, row, log or response shows it", async () => {
    const options = { idempotencyKey: crypto.randomUUID() };
    const input: InputOf<typeof flows.create_flow> = {
      name: "Secret",
      trigger_type: "keyword",
      trigger_keyword: "secret",
      end_action_type: "none",
      nodes: call({ Authorization: secret }),
    };
    const created = await app.call(flows.create_flow, input, options);
    const { id } = created.data;
    const repeated = await app.call(flows.create_flow, input, options);
    const { run } = await (await start(id)).run();
    expect(run?.variables).toEqual({ answer: { status: 200, body: { echo: "***", list: ["got ***"] } } });
    const shown = [
      created,
      repeated,
      run,
      await app.call(flows.get_flow, { id }),
      await app.call(flows.list_flows, {}),
      await app.call(flows.toggle_flow, { id }),
      await app.call(flows.update_flow, { id, nodes: call({ Authorization: secret }) }),
    ];
    expect(created.data.nodes[0]?.action_config.secret_headers).toEqual({ Authorization: null });
    expect(JSON.stringify([...shown, logged])).not.toContain("hush");
    expect(await findColumns(app.server.database.queries, ["hush"])).toEqual([]);
  });

  test("is kept by a graph that is sent back as it was shown, and by other changes", async () => {
    const { id } = await create(call({ Authorization: secret, "X-Other": "other-value" }));
    const { data } = await app.call(flows.get_flow, { id });
    await update(id, data.nodes as NewNode[]);
    expect(await statusOf(id)).toBe(200);
    await app.call(flows.update_flow, { id, end_action_type: "unassign" });
    await update(id, call({ authorization: null }, {}, `${upstream.url}/other/path`));
    expect(await statusOf(id)).toBe(200);
    expect(upstream.requests.at(-1)?.headers["x-other"]).toBeUndefined();
    await update(id, call({ Authorization: "changed" }));
    expect(await statusOf(id)).toBe(401);
    expect(await countSecrets(id)).toBe(1);
    await app.call(flows.delete_flow, { id });
    expect(await countSecrets(id)).toBe(0);
  });

  test("of a run is that of the version that it began with", async () => {
    const wait = { id: "wait", node_type: "wait", action_config: { duration: "1m" } } as const;
    const nodes = (value: string): NewNode[] => [
      wait,
      ...call({ Authorization: value }, { parent_node_id: "wait" }),
    ];
    const { id } = await create(nodes(secret));
    const started = await start(id);
    await started.run();
    await update(id, nodes("new"));
    expect(await countSecrets(id)).toBe(2);
    await app.advanceTime(61_000);
    expect((await started.run()).run?.variables).toMatchObject({ answer: { status: 200 } });
  });

  test("that is lost fails the call with what to do", async () => {
    const { id } = await create(call({ Authorization: secret }));
    await app.server.database.queries.deleteFrom("flow_secrets").where("flow_id", "=", id).execute();
    expect(await statusOf(id)).toBe("http_secret_missing");
  });
});

describe("what an endpoint answers hides", () => {
  const token = "Tr0ub4dor-3";
  const base64 = (text: string) => Buffer.from(text).toString("base64");

  /** What a run keeps of a response, after a call with these secrets. */
  async function keep(secrets: Secrets, body: unknown, type = "application/json"): Promise<unknown> {
    await using echo = await startUpstream(() => ({ headers: { "content-type": type }, body }));
    const { id } = await create(call(secrets, {}, echo.url));
    const { run } = await (await start(id)).run();
    const { answer } = (run?.variables ?? {}) as { answer?: { body: unknown } };
    return answer?.body;
  }

  test.each<[string, Secrets, unknown, unknown]>([
    ["a token without Bearer", { Authorization: `Bearer ${token}` }, { got: token }, { got: "***" }],
    ["its case", { Authorization: `Bearer ${token}` }, { got: `x ${token.toUpperCase()}` }, { got: "x ***" }],
    [
      "the parts of user:password, sent in base64",
      { Authorization: `Basic ${base64(`grace:${token}`)}` },
      { user: "Grace", password: token, plan: "basic" },
      { user: "***", password: "***", plan: "basic" },
    ],
    ["parts of a cookie", { Cookie: `sid=${token}; theme=dark1` }, [token, "Dark1"], ["***", "***"]],
    ["base64", { "X-Key": token }, { a: base64(token), b: base64(`1:${token}!`) }, { a: "***", b: "***" }],
    [
      "base64 for URLs",
      { "X-Key": "a?>b?>c?>d" },
      { a: Buffer.from(" a?>b?>c?>d").toString("base64url") },
      { a: "***" },
    ],
    [
      "the form of URLs",
      { "X-Key": "p&ss w/rd" },
      { a: "/?k=p%26ss%20w%2Frd", b: "k=p%26ss+w%2frd" },
      { a: "/?k=***", b: "k=***" },
    ],
    ["the form of HTML", { "X-Key": "p&ss<w>rd" }, "<b>p&amp;ss&lt;w&gt;rd</b>", "<b>***</b>"],
    [
      "JSON as other languages write it, within a text",
      { "X-Key": "p&ss/w<>rd", "X-Token": "abc/def" },
      ['{"k":"p\\u0026ss/w\\u003c\\u003erd"}', '{"k":"abc\\/def"}'],
      ['{"k":"***"}', '{"k":"***"}'],
    ],
    ["hexadecimal digits", { "X-Key": token }, { a: Buffer.from(token).toString("hex") }, { a: "***" }],
    ["a name", { "X-Key": token }, { [token]: 1 }, { "***": 1 }],
    ["a number", { "X-Pin": "4711" }, { pin: 4711, other: 47 }, { pin: "***", other: 47 }],
    ["a short one, as a word", { "X-Pin": "a7" }, ["got A7.", "a79"], ["got ***.", "a79"]],
    ["a short one in base64", { "X-Pin": "a7" }, [base64("a7")], ["***="]],
  ])("%s", async (_, secrets, body, shown) => {
    expect(await keep(secrets, body)).toEqual(shown);
  });

  test("a text, and the beginning of a secret where it was cut", async () => {
    const kept = await keep(
      { Authorization: `Bearer ${token}` },
      `${token} ${"y ".repeat(32_758)}${token}`,
      "text/plain",
    );
    expect(String(kept)).toMatch(/^\*\*\* (y )+\*\*\*$/);
  });
});

describe("secret headers of more than 8192 characters", () => {
  const [long, rest] = ["x".repeat(4096), "y"];

  test("are rejected", async () => {
    const { code, error } = await expectFailure(create(call({ A: long, B: long, C: rest })));
    expect(code).toBe("flow_invalid");
    expect(error?.details).toMatchObject([
      {
        field: "nodes[0].action_config.secret_headers",
        message: "Send secret headers of at most 8192 characters together.",
      },
    ]);
  });

  test("are not sent where each save was within the limit", async () => {
    const { id } = await create(call({ A: long, B: long }));
    expect(await statusOf(id)).toBe(401);
    await update(id, call({ A: null, B: null, C: rest }));
    expect(await statusOf(id)).toBe("http_request_invalid");
  });
});

describe("null is rejected", () => {
  const field = "nodes[0].action_config.secret_headers.Authorization";
  const expectMissing = async (result: Promise<unknown>, message = /No value of Authorization is stored/) => {
    expect(await expectFailure(result)).toMatchObject({
      status: 400,
      code: "flow_invalid",
      error: {
        details: [
          { field, message: expect.stringMatching(message), fix: expect.stringMatching(/^Send the value/) },
        ],
      },
    });
  };

  test("in a new flow, also one with the same node", async () => {
    await create(call({ Authorization: secret }));
    await expectMissing(create(call({ Authorization: null })));
  });

  test("in another node, for another header, and after the header was left out", async () => {
    const { id } = await create(call({ Authorization: secret }));
    await expectMissing(update(id, call({ Authorization: null }, { id: "other" })));
    expect(await expectFailure(update(id, call({ "X-Key": null })))).toMatchObject({ status: 400 });
    await update(id, call(undefined));
    await expectMissing(update(id, call({ Authorization: null })));
  });

  test("for another host, so that a secret can't be sent elsewhere", async () => {
    const { id } = await create(call({ Authorization: secret }));
    const elsewhere = upstream.url.replace("127.0.0.1", "localhost");
    await expectMissing(update(id, call({ Authorization: null }, {}, elsewhere)), /kept for the address/);
    await expectMissing(
      update(id, call({ Authorization: null }, {}, upstream.url.replace(/\d$/, ""))),
      /kept for the address/,
    );
    expect(await statusOf(id)).toBe(200);
  });

  test("in another organization, whose flow has the same node", async () => {
    await create(call({ Authorization: secret }));
    const { key } = await createOrganizationFor(app, "Other");
    const input: InputOf<typeof flows.create_flow> = {
      name: "Copy",
      trigger_type: "keyword",
      trigger_keyword: "x",
      end_action_type: "none",
      nodes: call({ Authorization: null }),
    };
    await expectMissing(app.call(flows.create_flow, input, { key }));
  });
});

test("secret headers are sealed again at a rotation of the service's secret", async () => {
  await using database = await lendTestDatabase();
  const [a, b] = ["a".repeat(32), "b".repeat(32)] as const;
  const open = (env: Record<string, string>) =>
    startTestApp({ database, env: { ...localSources, ...env }, enabledModules });
  const first = await open({ TIDINGS_SECRET: a });
  const { id } = await createCallHelpers(first).create(call({ Authorization: secret }));
  await first[Symbol.asyncDispose]();
  await (await open({ TIDINGS_SECRET: b, TIDINGS_PREVIOUS_SECRET: a }))[Symbol.asyncDispose]();
  await using last = await open({ TIDINGS_SECRET: b });
  const { run } = await (await createCallHelpers(last).start(id)).run();
  expect(run?.variables).toMatchObject({ answer: { status: 200 } });
});

async function countSecrets(flow_id: string): Promise<number> {
  const { queries } = app.server.database;
  return (await queries.selectFrom("flow_secrets").select("id").where("flow_id", "=", flow_id).execute())
    .length;
}
