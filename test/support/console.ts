/** Requests as a page of the console makes them: with the cookie of its browser, and without a key. */
import { request } from "undici";
import type { ConsoleSession } from "../../tools/auth.ts";
import type { TestApp } from "./app.ts";

export type ConsoleSessionData = ReturnType<(typeof ConsoleSession)["parse"]>["data"];

export interface ConsoleAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  // biome-ignore lint/suspicious/noExplicitAny: a JSON value whose form the test states.
  readonly body: any;
}

interface ConsoleRequest {
  readonly json?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

/** A browser: it stores the cookie that it is sent, and sends it back. */
export interface TestBrowser {
  cookie: string | undefined;
  /** `line` is like `POST /console/login`. By default from a page of the service's own address. */
  send(line: string, options?: ConsoleRequest): Promise<ConsoleAnswer>;
  signIn(email: string, password: string): Promise<ConsoleSessionData>;
}

let count = 0;

export function openBrowser({ address }: Pick<TestApp, "address">): TestBrowser {
  const browser: TestBrowser = {
    cookie: undefined,

    async send(line, { json, headers = {} } = {}) {
      const [method = "GET", path = "/"] = line.split(" ");
      const answer = await request(address + path, {
        method,
        headers: {
          origin: address,
          ...(browser.cookie === undefined ? {} : { cookie: browser.cookie }),
          ...(json === undefined ? {} : { "content-type": "application/json" }),
          ...headers,
        },
        body: json === undefined ? null : JSON.stringify(json),
      });
      const cookie = [answer.headers["set-cookie"] ?? []].flat()[0];
      if (cookie !== undefined) {
        browser.cookie = cookie.includes("Max-Age=0") ? undefined : cookie.split(";")[0];
      }
      const text = await answer.body.text();
      return {
        status: answer.statusCode,
        headers: answer.headers,
        body: text === "" ? null : JSON.parse(text),
      };
    },

    async signIn(email, password) {
      count += 1;
      // From its own address, so that the limit of attempts does not affect other tests.
      const headers = { "x-forwarded-for": `198.51.${count >> 8}.${count & 255}` };
      const { status, body } = await browser.send("POST /console/login", {
        json: { email, password },
        headers,
      });
      if (status !== 200) {
        throw new Error(JSON.stringify(body));
      }
      return body.data;
    },
  };
  return browser;
}
