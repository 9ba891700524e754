/** A readable text of a content without one: lists, the search, flows, the chatbot and plans read it. */
import type { ReceivedContent } from "../../../../ports/channel/message-content.ts";
import { cutText } from "../../../../texts/cut.ts";

/** Characters; a contact may send a hundred cards. */
const maxLength = 1_000;

export function summaryOf(content: ReceivedContent): { readonly summary?: string } {
  const summary = summarize(content);
  return summary === undefined ? {} : { summary: cutText(summary, maxLength) };
}

/** Undefined for a content that has a text of its own, or a file. */
function summarize(content: ReceivedContent): string | undefined {
  if (content.type === "location") {
    const { latitude, longitude, name, address } = content.location;
    return `Location: ${joined(name, address, `${latitude}, ${longitude}`)}`;
  }
  if (content.type === "contacts") {
    return `Contact: ${content.contacts.map(describeCard).join("; ")}`;
  }
  if (content.type === "order") {
    const { items, note } = content.order;
    return `Order: ${joined(...items.map(describeItem), note)}`;
  }
  if (content.type === "form") {
    return `Form: ${joined(content.form.name, ...describeAnswers(content.form.answers))}`;
  }
  if (content.type === "call") {
    return "Missed call.";
  }
  if (content.type === "call_permission") {
    return content.call_permission.is_granted ? "Calls are permitted." : "Calls are not permitted.";
  }
  return undefined;
}

type ContentOf<Type> = Extract<ReceivedContent, { readonly type: Type }>;

function describeCard({
  name,
  organization,
  phones,
  emails,
}: ContentOf<"contacts">["contacts"][number]): string {
  return joined(name, organization, ...phones, ...emails);
}

function describeItem({
  product_id,
  quantity,
  price,
  currency,
}: ContentOf<"order">["order"]["items"][number]): string {
  const cost = price === null ? "" : ` at ${price}${currency === null ? "" : ` ${currency}`}`;
  return `${quantity} × ${product_id}${cost}`;
}

/** The token belongs to the form, and not to its answers. */
function describeAnswers(answers: Readonly<Record<string, unknown>>): readonly string[] {
  return Object.entries(answers)
    .filter(([name]) => name !== "flow_token")
    .map(([name, value]) => `${name}: ${typeof value === "string" ? value : JSON.stringify(value)}`);
}

const joined = (...parts: readonly (string | null)[]) => parts.filter(Boolean).join(", ");
