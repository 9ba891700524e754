/** The verification of a callback address: a GET whose challenge the receiver must answer. */
import { randomInt } from "node:crypto";
import { request } from "undici";
import { GraphError, invalidParameter, titleOf } from "../contract/graph-error.ts";

const timeoutMs = 10_000;

/** @throws GraphError when the address does not answer 200 with the challenge. */
export async function verifyCallback(url: string, verifyToken: string): Promise<void> {
  if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol)) {
    throw invalidParameter("Invalid callback URI format");
  }
  const target = new URL(url);
  const challenge = String(randomInt(10 ** 8, 10 ** 9));
  target.searchParams.set("hub.mode", "subscribe");
  target.searchParams.set("hub.challenge", challenge);
  target.searchParams.set("hub.verify_token", verifyToken);
  const answer = await ask(target);
  if (answer !== challenge) {
    const title = `${titleOf(2200)}: ${describe(answer)}`;
    throw new GraphError(2200, undefined, { title });
  }
}

/** @returns the body of an answer with 200, its status otherwise, or null without an answer */
async function ask(target: URL): Promise<string | number | null> {
  try {
    const { statusCode, body } = await request(target, {
      headersTimeout: timeoutMs,
      bodyTimeout: timeoutMs,
      signal: AbortSignal.timeout(timeoutMs),
    });
    const text = await body.text();
    return statusCode === 200 ? text : statusCode;
  } catch {
    return null;
  }
}

function describe(answer: string | number | null): string {
  if (answer === null) {
    return "the URL could not be reached";
  }
  return typeof answer === "number"
    ? `HTTP Status Code = ${answer}`
    : "the URL did not answer with the challenge";
}
