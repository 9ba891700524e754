/** Values of fields in examples, by the field's name: what a reader expects to see there. */

/** Any id after its prefix. */
const idSuffix = "_01m7zc81jq1d3bq0c4k8p7x2ms";

interface Thing {
  /** Of its ids. */
  readonly prefix: string;
  readonly name?: string;
}

const things: Readonly<Record<string, Thing>> = {
  addon: { prefix: "addon" },
  api_key: { prefix: "key", name: "Shop" },
  broadcast: { prefix: "bc", name: "Autumn offer" },
  chatbot: { prefix: "bot" },
  cohort: { prefix: "coh", name: "Customers with the tag vip" },
  contact: { prefix: "con", name: "Ada Lovelace" },
  conversation: { prefix: "conv" },
  document: { prefix: "doc", name: "Returns" },
  event: { prefix: "evt" },
  flow: { prefix: "flow", name: "Greeting" },
  import: { prefix: "imp" },
  inbox: { prefix: "inb", name: "Support" },
  ledger: { prefix: "txn" },
  message: { prefix: "msg" },
  note: { prefix: "note" },
  order: { prefix: "order" },
  organization: { prefix: "org", name: "Example Shop" },
  payment: { prefix: "pmt" },
  plan: { prefix: "plan", name: "Team" },
  policy: { prefix: "pol", name: "French speakers" },
  qa_pair: { prefix: "qap" },
  quick_reply: { prefix: "qr" },
  run: { prefix: "run" },
  team: { prefix: "team", name: "Sales" },
  template: { prefix: "tpl", name: "order_update" },
  tool: { prefix: "tool", name: "list_contacts" },
  upload: { prefix: "upl" },
  user: { prefix: "usr", name: "Grace Hopper" },
  variable: { prefix: "var", name: "1" },
  webhook: { prefix: "whk" },
};

/** Other names of things: of tags, and of fields with an object or a list of objects. */
const synonyms: Readonly<Record<string, string>> = {
  actor: "api_key",
  author: "user",
  auth: "user",
  billing: "addon",
  "knowledge-base": "document",
  mcp: "tool",
  routing: "policy",
  sent_by: "api_key",
  wallet: "ledger",
};

/** The thing of this name, in the singular or the plural, or undefined. */
export function findThing(name: string): string | undefined {
  const singular = name
    .replace("-", "_")
    .replace(/ies$/, "y")
    .replace(/(?:(box)es|s)$/, "$1");
  const thing = synonyms[name] ?? singular;
  return thing in things ? thing : undefined;
}

/** The id or the name in a field; `id` and `name` are those of `owner`. Undefined for other fields. */
export function exampleOfThing(field: string, owner: string): string | undefined {
  const { prefix = "", name = undefined } =
    things[/^(?:processor_)?(\w+)_id$/.exec(field)?.[1] ?? owner] ?? {};
  const isId = /^(?:.+_)?id$/.test(field);
  return isId && prefix !== "" ? prefix + idSuffix : field === "name" ? name : undefined;
}

/** Values of other fields. */
export const exampleValues: Readonly<Record<string, unknown>> = {
  add: ["vip"],
  access_token: "eyJhbGciOiJFZERTQSJ9.eyJzdWIiOiJ1c3IifQ.c2lnbmF0dXJl",
  amount: 25,
  answer: "Within 30 days, with the receipt.",
  assigned_to: `usr${idSuffix}`,
  audience: "Customers with the tag vip",
  body: "Is my order on its way?",
  channel_message_id: `sim${idSuffix}`,
  channel: "simulator",
  code: "undeliverable",
  contact_name: "Ada Lovelace",
  contact_phone: "+14155550123",
  content: "We are open from 9 to 5.",
  content_type: "image/png",
  country: "US",
  country_code: "US",
  currency: "USD",
  currency_code: "USD",
  currency_symbol: "$",
  day: "2026-11-21",
  cursor: "eyJhZnRlciI6IjEifQ",
  date: "2026-12-25",
  default_country: "US",
  description: "Questions about orders",
  email: "ada@example.com",
  file: "",
  file_name: "menu.pdf",
  from: "+14155550123",
  from_agent: `usr${idSuffix}`,
  language: "en",
  message: "Is my order on its way?",
  new_password: "correct horse battery",
  page: 1,
  password: "correct horse battery",
  per_page: 20,
  platform: "simulator",
  phone_number: "+14155550123",
  priority: 1,
  question: "May I return a product?",
  query: "returns",
  refresh_token: `rt${idSuffix}`,
  score: 0.87,
  scopes: ["contacts:read", "contacts:write"],
  secret_key: "sk_live_kkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkk",
  short_code: "hours",
  signing_secret: "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
  tags: ["vip"],
  text: "Your order is on its way.",
  time_zone: "Europe/Berlin",
  title: "Order status",
  to: "+14155550123",
  to_agent: `usr${idSuffix}`,
  total: 1,
  url: "https://example.com/menu.pdf",
};
