/** The subscription of an app to the changes of accounts: one address for all of them. */
import { GraphError, invalidParameter } from "../contract/graph-error.ts";
import { type Answer, json } from "../http/answer.ts";
import type { App } from "../state/store.ts";
import { verifyCallback } from "../webhooks/handshake.ts";
import type { GraphRequest } from "./request.ts";

const object = "whatsapp_business_account";

/** The fields of Meta's dashboard. */
const knownFields: readonly string[] = [
  "account_alerts",
  "account_review_update",
  "account_settings_update",
  "account_update",
  "business_capability_update",
  "business_status_update",
  "calls",
  "flows",
  "group_lifecycle_update",
  "history",
  "message_echoes",
  "message_template_components_update",
  "message_template_quality_update",
  "message_template_status_update",
  "messages",
  "messaging_handovers",
  "partner_solutions",
  "payment_configuration_update",
  "phone_number_name_update",
  "phone_number_quality_update",
  "security",
  "smb_app_state_sync",
  "smb_message_echoes",
  "template_category_update",
  "template_correct_category_detection",
  "tracking_events",
  "user_preferences",
];

/** The address is verified before it is used. @throws GraphError */
export async function subscribeToObject(request: GraphRequest<App>): Promise<Answer> {
  requireAppToken(request);
  const body = await request.readJson();
  const read = (name: string) => body[name] ?? request.query.get(name) ?? undefined;
  const [url, verify_token] = [requireText("callback_url", read), requireText("verify_token", read)];
  if (requireText("object", read) !== object) {
    throw invalidParameter(`Param object must be one of {${object}}`);
  }
  const fields = readFields(read("fields"));
  await verifyCallback(url, verify_token);
  const app = request.node;
  app.verify_token = verify_token;
  app.callback_url = url;
  app.fields = fields;
  return json({ success: true });
}

export function listSubscriptions(request: GraphRequest<App>): Answer {
  requireAppToken(request);
  const { callback_url, fields } = request.node;
  const described = (fields ?? knownFields).map((name) => ({ name, version: request.version }));
  return json({
    data: callback_url === null ? [] : [{ object, callback_url, active: true, fields: described }],
  });
}

/** @throws GraphError 15 */
function requireAppToken({ token }: GraphRequest<App>): void {
  if (token.kind !== "app") {
    throw new GraphError(15);
  }
}

type ReadParameter = (name: string) => unknown;

function requireText(name: string, read: ReadParameter): string {
  const value = read(name);
  if (typeof value !== "string" || value === "") {
    throw invalidParameter(`The parameter ${name} is required.`);
  }
  return value;
}

/** A list, or names separated by commas. */
function readFields(value: unknown): string[] {
  const names: unknown[] = Array.isArray(value) ? value : String(value ?? "").split(",");
  return names.map((name, index) => {
    if (typeof name !== "string" || !knownFields.includes(name)) {
      throw invalidParameter(`Param fields[${index}] must be one of {${knownFields.join(", ")}}`);
    }
    return name;
  });
}
