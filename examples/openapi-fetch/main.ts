/**
 * Ten calls with openapi-fetch, whose types openapi-typescript generates from the service's OpenAPI document:
 *
 *   npm install
 *   curl -o openapi.json http://127.0.0.1:3000/v1/openapi.json && npm run generate
 *   TIDINGS_BASE_URL=http://127.0.0.1:3000 TIDINGS_API_KEY=sk_live_… npm start
 *
 * It needs Node 22.18 or newer, which runs TypeScript.
 */
import assert from "node:assert/strict";
import { setTimeout } from "node:timers/promises";
import createClient from "openapi-fetch";
import type { components, paths } from "./schema.d.ts";

type Contact = components["schemas"]["Contact"];

const { TIDINGS_BASE_URL = "http://127.0.0.1:3000", TIDINGS_API_KEY = "" } = process.env;
const client = createClient<paths>({
  baseUrl: TIDINGS_BASE_URL,
  headers: { "X-API-Key": TIDINGS_API_KEY },
});

/** What a call has made. A key that rules bind may get a plan instead, which waits for a person. */
function made<Answer extends object>(answer: Answer): Exclude<Answer, { plan: unknown }> {
  assert(!("plan" in answer), "The call waits for a person.");
  return answer as Exclude<Answer, { plan: unknown }>;
}

/** Another number and other names in each run. */
const run = Date.now().toString(36);
const phone_number = `+1415556${String(Date.now()).slice(-4)}`;

const created = await client.POST("/v1/contacts", { body: { phone_number, name: "Ada Lovelace" } });
assert(created.data, created.error?.error.message);
const contact: Contact = made(created.data.data);
console.log(`1. created the contact ${contact.id}`);

const body = { to: contact.id, type: "text", text: { body: "Hello!" } } as const;
const header = { "Idempotency-Key": run };
const sent = await client.POST("/v1/messages", { body, params: { header } });
assert(sent.data, sent.error?.error.message);
const message = made(sent.data.data);
console.log(`2. sent the message ${message.id}, which is ${message.status}`);

const conversations = await client.GET("/v1/conversations", { params: { query: { status: "open" } } });
assert(conversations.data, conversations.error?.error.message);
console.log(`3. listed ${conversations.data.data.length} conversations`);

let listed = 0;
for (let page = 1, total = 1; listed < total; page++) {
  const { data, error } = await client.GET("/v1/contacts", { params: { query: { page, per_page: 1 } } });
  assert(data, error?.error.message);
  listed += data.data.length;
  total = data.meta.total;
}
console.log(`4. listed ${listed} contacts, one a page`);

const duplicate = await client.POST("/v1/contacts", { body: { phone_number } });
assert.equal(duplicate.response.status, 409);
assert.equal(duplicate.error?.error.code, "contact_exists");
console.log(`5. got the error ${duplicate.error.error.code}: ${duplicate.error.error.fix}`);

const repeated = await client.POST("/v1/messages", { body, params: { header } });
assert(repeated.data, repeated.error?.error.message);
assert.equal(made(repeated.data.data).id, message.id);
assert.equal(repeated.response.headers.get("idempotency-replayed"), "true");
console.log("6. repeated the request, and no second message was sent");

const draft = await client.POST("/v1/templates", {
  body: {
    name: `order_update_${run}`,
    category: "utility",
    language: "en",
    template_data: { body: "Hello, your order is on its way." },
  },
});
assert(draft.data, draft.error?.error.message);
const template = made(draft.data.data);
const params = { path: { id: template.id } };
await client.POST("/v1/templates/{id}/submit", { params });
// A real channel reviews it for hours, the simulated one for a second.
for (let isSendable = false; !isSendable; await setTimeout(100)) {
  const reviewed = await client.GET("/v1/templates/{id}", { params });
  isSendable = reviewed.data?.data.is_sendable ?? false;
}
console.log(`7. created the template ${template.name}, which was approved`);

const cohort = await client.POST("/v1/cohorts", {
  body: { name: `Everybody ${run}`, query: { attribute: "country", operator: "eq", value: "US" } },
});
assert(cohort.data, cohort.error?.error.message);
const broadcast = await client.POST("/v1/broadcasts", {
  body: { name: `Update ${run}`, cohort_id: made(cohort.data.data).id, template_id: template.id },
});
assert(broadcast.data, broadcast.error?.error.message);
const { id, execution_status } = made(broadcast.data.data);
console.log(`8. created the broadcast ${id}, a ${execution_status}`);

const form = new FormData();
form.append(
  "file",
  new Blob(["phone_number,name\n+14155550199,Grace\n"], { type: "text/csv" }),
  "contacts.csv",
);
const upload = await client.POST("/v1/uploads", { body: {}, bodySerializer: () => form });
assert(upload.data, upload.error?.error.message);
console.log(`9. uploaded ${upload.data.data.file_name}, ${upload.data.data.file_size} bytes`);

const since = new Date(Date.now() - 3_600_000).toISOString();
const events = await client.GET("/v1/events", { params: { query: { since, types: "message.sent" } } });
assert(events.data, events.error?.error.message);
console.log(`10. listed ${events.data.data.length} events`);
