/**
 * Receives webhooks with the standard library alone, and answers each text message once:
 *
 *   WEBHOOK_SECRET=whsec_… TIDINGS_API_KEY=sk_live_… PORT=4000 node main.mjs
 *
 * The secret is in the answer of POST /v1/webhook-subscriptions, and `tidings listen` prints one.
 */
import { createHmac, timingSafeEqual } from "node:crypto";
import { createServer } from "node:http";

const { TIDINGS_BASE_URL = "http://127.0.0.1:3000", PORT = "4000" } = process.env;
const secret = readSetting("WEBHOOK_SECRET");
const apiKey = readSetting("TIDINGS_API_KEY");

/** An event with a message of the greatest length is much smaller. */
const bodyLimit = 1024 * 1024;
/** Older requests may be recorded ones that someone sends again. */
const toleranceSeconds = 300;
/** Ids of processed events, oldest first. Several processes need a table with a unique column instead. */
const processed = new Set();
const processedLimit = 10_000;

const server = createServer(async (request, response) => {
  try {
    response.writeHead(await receive(request)).end();
  } catch (error) {
    console.error(error);
    response.writeHead(500).end();
  }
});
server.listen(Number(PORT), "127.0.0.1", () => console.log(`Listening on http://127.0.0.1:${PORT}`));

/** @returns the status of the answer. Any status but 2xx makes the service send the event again. */
async function receive(request) {
  if (request.method !== "POST") {
    return 405;
  }
  const body = await readBody(request);
  if (!body) {
    return 413;
  }
  if (!isSigned(request.headers, body)) {
    return 401;
  }
  const event = JSON.parse(body.toString());
  if (processed.has(event.id)) {
    console.log(`Ignored ${event.id}, which was processed before`);
    return 200;
  }
  remember(event.id);
  // Not awaited: the answer to the service must not wait for other work. A program that must process every
  // event, even after a crash, stores it before it answers.
  handle(event).catch((error) => console.error(`Could not process ${event.id}:`, error));
  return 200;
}

/** The bytes, as they were signed; undefined if they are too many. */
async function readBody(request) {
  const chunks = [];
  let size = 0;
  for await (const chunk of request) {
    size += chunk.length;
    if (size > bodyLimit) {
      return undefined;
    }
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** Verifies the headers of Standard Webhooks. After a rotation of the secret there are two signatures. */
function isSigned(headers, body) {
  const { "webhook-id": id, "webhook-timestamp": timestamp, "webhook-signature": signatures = "" } = headers;
  const isRecent = Math.abs(Date.now() / 1000 - Number(timestamp)) <= toleranceSeconds;
  const key = Buffer.from(secret.replace(/^whsec_/, ""), "base64");
  const expected = createHmac("sha256", key).update(`${id}.${timestamp}.`).update(body).digest();
  return isRecent && signatures.split(" ").some((signature) => isEqual(signature, expected));
}

function isEqual(signature, expected) {
  const [version, value = ""] = signature.split(",");
  const given = Buffer.from(value, "base64");
  return version === "v1" && given.length === expected.length && timingSafeEqual(given, expected);
}

function remember(id) {
  processed.add(id);
  if (processed.size > processedLimit) {
    const [oldest] = processed;
    processed.delete(oldest);
  }
}

async function handle({ id, type, data }) {
  if (type !== "message.received" || data.type !== "text") {
    console.log(`Received ${type} ${id}`);
    return;
  }
  console.log(`Received from ${data.from}: ${data.text.body}`);
  const answer = `Thanks, we got your message: ${data.text.body}`;
  const response = await fetch(`${TIDINGS_BASE_URL}/v1/messages`, {
    method: "POST",
    headers: {
      "X-API-Key": apiKey,
      "Content-Type": "application/json",
      // The service sends one message for a key, even if this program was restarted in between.
      "Idempotency-Key": id,
    },
    body: JSON.stringify({ to: data.conversation_id, type: "text", text: { body: answer.slice(0, 4096) } }),
  });
  if (!response.ok) {
    throw new Error(await response.text());
  }
  console.log(`Answered ${data.from}`);
}

function readSetting(name) {
  const value = process.env[name];
  if (!value) {
    console.error(`Set ${name}.`);
    process.exit(1);
  }
  return value;
}
