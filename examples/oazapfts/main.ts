/**
 * Ten calls with the functions that oazapfts generates from the service's OpenAPI document:
 *
 *   npm install
 *   curl -o openapi.json http://127.0.0.1:3000/v1/openapi.json && npm run generate
 *   TIDINGS_BASE_URL=http://127.0.0.1:3000 TIDINGS_API_KEY=sk_live_… npm start
 *
 * It needs Node 22.18 or newer, which runs TypeScript.
 */
import assert from "node:assert/strict";
import { setTimeout } from "node:timers/promises";
import * as api from "./api.ts";

api.defaults.baseUrl = process.env.TIDINGS_BASE_URL ?? "http://127.0.0.1:3000";
api.defaults.headers = { "X-API-Key": process.env.TIDINGS_API_KEY ?? "" };

/** Another number and other names in each run. */
const run = Date.now().toString(36);
const phone_number = `+1415557${String(Date.now()).slice(-4)}`;

const created = await api.createContact({ phone_number, name: "Ada Lovelace" });
assert(created.status === 201);
const contact: api.Contact = created.data.data;
console.log(`1. created the contact ${contact.id}`);

const message: api.SendMessageRequest = { to: contact.id, type: "text", text: { body: "Hello!" } };
const sent = await api.sendMessage(message, { idempotencyKey: run });
assert(sent.status === 201);
console.log(`2. sent the message ${sent.data.data.id}, which is ${sent.data.data.status}`);

const conversations = await api.listConversations({ status: "open" });
assert(conversations.status === 200);
console.log(`3. listed ${conversations.data.data.length} conversations`);

let listed = 0;
for (let page = 1, total = 1; listed < total; page++) {
  const contacts = await api.listContacts({ page, perPage: 1 });
  assert(contacts.status === 200);
  listed += contacts.data.data.length;
  total = contacts.data.meta.total;
}
console.log(`4. listed ${listed} contacts, one a page`);

const duplicate = await api.createContact({ phone_number });
assert(duplicate.status === 409);
assert.equal(duplicate.data.error.code, "contact_exists");
console.log(`5. got the error ${duplicate.data.error.code}: ${duplicate.data.error.fix}`);

const repeated = await api.sendMessage(message, { idempotencyKey: run });
assert(repeated.status === 201);
assert.equal(repeated.data.data.id, sent.data.data.id);
console.log("6. repeated the request, and no second message was sent");

const template = await api.createTemplate({
  name: `order_update_${run}`,
  category: "utility",
  language: "en",
  template_data: { body: "Hello, your order is on its way." },
});
assert(template.status === 201);
await api.submitTemplate(template.data.data.id);
// A real channel reviews it for hours, the simulated one for a second.
for (let isSendable = false; !isSendable; await setTimeout(100)) {
  const reviewed = await api.getTemplate(template.data.data.id);
  assert(reviewed.status === 200);
  isSendable = reviewed.data.data.is_sendable;
}
console.log(`7. created the template ${template.data.data.name}, which was approved`);

const cohort = await api.createCohort({
  name: `Everybody ${run}`,
  query: { attribute: "country", operator: "eq", value: "US" },
});
assert(cohort.status === 201);
const broadcast = await api.createBroadcast({
  name: `Update ${run}`,
  cohort_id: cohort.data.data.id,
  template_id: template.data.data.id,
});
assert(broadcast.status === 201);
console.log(`8. created the broadcast ${broadcast.data.data.id}, a ${broadcast.data.data.execution_status}`);

const file = new File(["phone_number,name\n+14155550199,Grace\n"], "contacts.csv", { type: "text/csv" });
const upload = await api.uploadFile({ file });
assert(upload.status === 201);
console.log(`9. uploaded ${upload.data.data.file_name}, ${upload.data.data.file_size} bytes`);

const since = new Date(Date.now() - 3_600_000).toISOString();
const events = await api.listEvents({ since, types: "message.sent" });
assert(events.status === 200);
console.log(`10. listed ${events.data.data.length} events`);
