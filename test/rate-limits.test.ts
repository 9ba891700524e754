/** Rate limits: by credential over REST and /mcp, by address without one, and of guessed credentials. */
import { beforeEach, describe, expect, test } from "vitest";
import { createAdmission } from "../src/http/admission/index.ts";
import { apiKeys } from "../tools/api-keys.ts";
import { fail } from "../tools/errors.ts";
import {
  ownerEmail,
  ownerKey,
  ownerPassword,
  startTestApp,
  type TestApp,
  useTestApp,
} from "./support/app.ts";
import { lendTestDatabase } from "./support/database.ts";
import { meanwhile } from "./support/meanwhile.ts";
import { requestLogin, signIn, trustedProxyEnv } from "./support/users.ts";

const limits = { perSecond: 5, burst: 8 };
const env = {
  ...trustedProxyEnv,
  TIDINGS_RATE_LIMIT: String(limits.perSecond),
  TIDINGS_RATE_BURST: String(limits.burst),
};

const app = useTestApp({ env });

// Every count starts again.
beforeEach(() => app.advanceTime(3_600_000));

type FetchOptions = NonNullable<Parameters<TestApp["fetch"]>[1]>;

const list = (options: FetchOptions = {}, at = app) => at.fetch("/v1/contacts", options);
const from = (address: string) => ({ headers: { "x-forwarded-for": address } });

/** Sends one JSON-RPC message, or a batch of them. */
function postMcp(json: unknown, key = ownerKey, address = "192.0.2.1"): Promise<Response> {
  const accept = "application/json, text/event-stream";
  const headers = { accept, "mcp-protocol-version": "2025-03-26", "x-forwarded-for": address };
  return app.fetch("/mcp", { method: "POST", json, key, headers });
}

const message = (id: number, method = "tools/list", params: object = {}) => ({
  jsonrpc: "2.0",
  id,
  method,
  params,
});
const batchOf = (length: number) => Array.from({ length }, (_, id) => message(id));

/** The rate limit headers, of which each must be a whole number. */
function readHeaders({ headers }: Response) {
  const values = ["ratelimit-limit", "ratelimit-remaining", "ratelimit-reset", "retry-after"].map((name) =>
    headers.get(name),
  );
  expect(values.filter((value) => value !== null && !/^\d+$/.test(value))).toEqual([]);
  const [limit, remaining, reset, retryAfter] = values.map((value) =>
    value === null ? null : Number(value),
  );
  return { limit, remaining, reset, retryAfter };
}

describe("a credential", () => {
  test("may make a burst of requests, then as many a second as it gains", async () => {
    const answers = await Promise.all(Array.from({ length: 20 }, () => list()));
    const rejected = answers.filter(({ status }) => status === 429);
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(8);
    expect(rejected.map(readHeaders)).toEqual(
      Array.from({ length: 12 }, () => ({ limit: 5, remaining: 0, reset: 1, retryAfter: 1 })),
    );
    expect(await rejected[0]?.json()).toMatchObject({ error: { type: "rate_limit", code: "rate_limited" } });
    await app.advanceTime(1_000);
    const later = await Promise.all(Array.from({ length: 20 }, () => list()));
    expect(later.filter(({ status }) => status === 200)).toHaveLength(5);
  });

  test("has one count, however its text is spelled", async () => {
    const { access_token } = await signIn(app, ownerEmail, ownerPassword);
    const spellings = spell(access_token);
    expect(spellings).toHaveLength(4);
    const answers: Response[] = [];
    for (let times = 0; times < 5; times += 1) {
      for (const token of spellings) {
        const headers = { authorization: `Bearer ${token}` };
        answers.push(await list({ key: null, headers }));
      }
    }
    expect(countStatuses(answers)).toEqual({ 200: 8, 429: 12 });
  });

  test("has a count of its own", async () => {
    const key = await createKey();
    await Promise.all(Array.from({ length: 20 }, () => list()));
    expect((await list({ key })).status).toBe(200);
  });
});

describe("/mcp", () => {
  test("counts each message of a batch, with REST", async () => {
    const batch = await postMcp(batchOf(5));
    expect([batch.status, readHeaders(batch).remaining]).toEqual([200, 3]);
    expect((await list()).status).toBe(200);
    const rejected = await postMcp(batchOf(4));
    expect(rejected.status).toBe(429);
    expect(readHeaders(rejected)).toEqual({ limit: 5, remaining: 1, reset: 1, retryAfter: 1 });
    expect(await rejected.json()).toMatchObject({ error: { code: "rate_limited" } });
  });

  test("rejects a batch that is larger than the burst, which could never succeed", async () => {
    const rejected = await postMcp(batchOf(9));
    expect(rejected.status).toBe(400);
    expect(await rejected.json()).toEqual({
      jsonrpc: "2.0",
      id: null,
      error: { code: -32_600, message: expect.stringContaining("at most 8 messages") },
    });
    expect((await postMcp(batchOf(7))).status).toBe(200);
  });

  test("counts a tool call once, though it runs an operation", async () => {
    const call = message(1, "tools/call", { name: "list_contacts", arguments: {} });
    const answers: Response[] = [];
    for (let times = 0; times < 9; times += 1) {
      answers.push(await postMcp(call));
    }
    expect(answers.map(({ status }) => status)).toEqual([...Array.from({ length: 8 }, () => 200), 429]);
    expect(await answers[7]?.text()).toContain("per_page");
  });

  test("counts calls that run no operation", async () => {
    const call = message(1, "tools/call", { name: "get_contact", arguments: { unknown: 1 } });
    const answers = await Promise.all(Array.from({ length: 10 }, () => postMcp(call)));
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(2);
  });

  test("limits guessed keys and requests without one", async () => {
    const guesses = await Promise.all(
      Array.from({ length: 40 }, (_, guess) => postMcp(message(1), `sk_live_guess_${guess}`)),
    );
    expect(countStatuses(guesses)).toEqual({ 401: 30, 429: 10 });
    expect((await postMcp(message(1))).status).toBe(200);
    const anonymous = await Promise.all(
      Array.from({ length: 10 }, () => app.fetch("/mcp", { method: "POST", key: null, json: message(1) })),
    );
    expect(countStatuses(anonymous)).toEqual({ 401: 8, 429: 2 });
  });
});

describe("unknown credentials", () => {
  const guess = (number: number, address: string) =>
    list({ key: `sk_live_guess_${number}`, ...from(address) });
  const guessAll = (count: number, addressOf: (number: number) => string) =>
    Promise.all(Array.from({ length: count }, (_, number) => guess(number, addressOf(number))));

  test("are limited to 30 a minute for each address", async () => {
    expect(countStatuses(await guessAll(40, () => "192.0.2.1"))).toEqual({ 401: 30, 429: 10 });
    const rejected = await guess(1, "192.0.2.1");
    expect(rejected.status).toBe(429);
    expect(readHeaders(rejected)).toEqual({ limit: 30, remaining: 0, reset: 60, retryAfter: 60 });
    expect((await guess(1, "192.0.2.2")).status).toBe(401);
    await app.advanceTime(60_000);
    const next = await guess(1, "192.0.2.1");
    expect(next.status).toBe(401);
    expect(readHeaders(next)).toEqual({ limit: 30, remaining: 29, reset: 60, retryAfter: null });
  });

  test("of one IPv6 network are counted together", async () => {
    const answers = await guessAll(40, (number) => `2001:db8:0:1::${number.toString(16)}`);
    expect(countStatuses(answers)).toEqual({ 401: 30, 429: 10 });
    expect((await guess(1, "2001:db8:0:2::1")).status).toBe(401);
    // An IPv4 address that a socket shows as IPv6 is a network of its own.
    expect((await guess(1, "::ffff:192.0.2.1")).status).toBe(401);
  });

  test("never make a valid one from the same address fail", async () => {
    const used = await createKey();
    const unused = await createKey();
    await list({ key: used });
    const guesses = guessAll(200, () => "192.0.2.1");
    const valid = [used, unused].map((key) => list({ key, ...from("192.0.2.1") }));
    const [answers] = await Promise.all([Promise.all(valid), guesses]);
    expect(answers.map(({ status }) => status)).toEqual([200, 200]);
    const late = await list({ key: await createKey(), ...from("192.0.2.1") });
    expect(late.status).toBe(200);
  });

  test("include a key that was revoked, from its next request on", async () => {
    const { data } = await app.call(apiKeys.create_api_key, { name: "k", scopes: ["contacts:read"] });
    expect((await list({ key: data.secret_key })).status).toBe(200);
    await app.call(apiKeys.delete_api_key, { id: data.id });
    const answers: Response[] = [];
    for (let times = 0; times < 32; times += 1) {
      answers.push(await list({ key: data.secret_key, ...from("192.0.2.9") }));
    }
    expect(countStatuses(answers)).toEqual({ 401: 30, 429: 2 });
  });
});

test("the look-ups of an address that guesses run one at a time; those of others do not wait", async () => {
  const ends = new Map<string, () => void>();
  const admission = createAdmission({
    rateLimits: limits,
    now: app.now,
    platform: {
      authenticate: (credential) =>
        new Promise((_, reject) => ends.set(credential, () => reject(fail("credential_invalid")))),
      sharedUse: { add: () => undefined, onOthers: () => undefined },
    },
  });
  const started = () => [...ends.keys()];
  const identify = async (credential: string, address: string) => {
    const exchange = { headers: { "x-api-key": credential }, address, setHeader: () => undefined };
    return admission.identify(exchange).catch((error: unknown) => error);
  };
  const guesses = Array.from({ length: 30 }, (_, number) => identify(`guess-${number}`, "192.0.2.1"));
  expect(started()).toHaveLength(30);
  for (const end of ends.values()) {
    end();
  }
  await Promise.all(guesses);
  ends.clear();
  const waiting = Promise.all(["first", "second"].map((credential) => identify(credential, "192.0.2.1")));
  const outcomes = await meanwhile(waiting, async () => {
    const other = await meanwhile(identify("other", "192.0.2.2"), async () => {
      await expect.poll(started).toEqual(["other", "first"]);
      ends.get("other")?.();
    });
    expect(other).toMatchObject({ status: 401 });
    ends.get("first")?.();
    await expect.poll(started).toEqual(["other", "first", "second"]);
    ends.get("second")?.();
  });
  expect(outcomes).toMatchObject([{ status: 429 }, { status: 429 }]);
});

test("a limit holds over all processes of a database", { tags: "postgres" }, async () => {
  await using database = await lendTestDatabase();
  await using one = await startTestApp({ database, env });
  await using other = await startTestApp({ database, env, startsAt: one.now() });
  const key = await createKey(one);
  /** A heartbeat of each: the first one's use is written, then read. */
  const beat = async () => {
    await one.runDueJobs();
    await other.runDueJobs();
  };
  const request = async (at: TestApp) => (await list({ key }, at)).status;
  await beat();
  await beat();
  expect(await Promise.all(Array.from({ length: 8 }, () => request(one)))).toEqual(Array(8).fill(200));
  await beat();
  expect(await request(other)).toBe(429);
  expect((await list({}, other)).status).toBe(200);
  await other.advanceTime(1_000);
  expect(await request(other)).toBe(200);
  // What was reported is not subtracted again.
  await beat();
  expect(await request(other)).toBe(200);
});

test("a sign-in is limited by the network of its address", async () => {
  const statuses: number[] = [];
  for (let tries = 0; tries < 6; tries += 1) {
    const email = `${tries}@example.com`;
    statuses.push((await requestLogin(app, email, "wrong", `2001:db8:0:1::${tries + 1}`)).status);
  }
  expect(statuses).toEqual([401, 401, 401, 401, 401, 429]);
});

async function createKey(at: TestApp = app): Promise<string> {
  const { data } = await at.call(apiKeys.create_api_key, { name: "k", scopes: ["contacts:read"] });
  return data.secret_key;
}

/** The token with every last character that decodes to the same signature. */
function spell(token: string): string[] {
  const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
  const [head, payload, signature = ""] = token.split(".");
  const decoded = Buffer.from(signature, "base64url");
  return [...alphabet]
    .map((last) => signature.slice(0, -1) + last)
    .filter((spelling) => Buffer.from(spelling, "base64url").equals(decoded))
    .map((spelling) => `${head}.${payload}.${spelling}`);
}

function countStatuses(answers: readonly Response[]): Record<number, number> {
  const counts: Record<number, number> = {};
  for (const { status } of answers) {
    counts[status] = (counts[status] ?? 0) + 1;
  }
  return counts;
}
