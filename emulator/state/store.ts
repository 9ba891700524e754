/**
 * What the emulator knows: accounts, numbers, tokens, media, templates, customers and
 * messages. All in memory.
 */
import type { CustomerIndex } from "./customers.ts";
import { newId } from "./ids.ts";
import type { InboundRecord, SentMessage } from "./messages.ts";
import type { Template } from "./template.ts";

export interface App {
  readonly kind: "app";
  readonly id: string;
  readonly name: string;
  readonly secret: string;
  verify_token: string;
  /** Where webhooks go, unless a subscription overrides it. */
  callback_url: string | null;
  /** The fields of accounts that are reported; null: all. */
  fields: readonly string[] | null;
  /** "Require app secret" of the app's settings: each request needs a proof. */
  requires_proof: boolean;
}

export interface Subscription {
  override_callback_uri: string | null;
}

/** A WhatsApp Business Account. */
export interface Account {
  readonly kind: "account";
  readonly id: string;
  readonly name: string;
  /** By app id. */
  readonly subscriptions: Map<string, Subscription>;
}

export const messagingLimits = ["TIER_250", "TIER_2K", "TIER_10K", "TIER_100K", "TIER_UNLIMITED"] as const;
export type MessagingLimit = (typeof messagingLimits)[number];

export interface Phone {
  readonly kind: "phone";
  readonly id: string;
  readonly account_id: string;
  /** Digits. */
  number: string;
  readonly verified_name: string;
  quality_rating: "GREEN" | "YELLOW" | "RED" | "UNKNOWN";
  messages_per_second: number;
  /**
   * How many people may be written to outside their windows in 24 hours; all numbers of an account have the
   * same. Reported, and not enforced.
   */
  messaging_limit: MessagingLimit;
  /** A disconnected number is not registered. */
  status: "CONNECTED" | "DISCONNECTED" | "FLAGGED" | "RESTRICTED";
  /** Of the two-step verification; null: the next registration sets it. */
  pin: string | null;
}

export const permissions = ["whatsapp_business_management", "whatsapp_business_messaging"] as const;
export type Permission = (typeof permissions)[number];

/**
 * Valid for every account that the app is subscribed to or that `account_ids` has. A token of the app itself,
 * which is its id and its secret, is valid for no account.
 */
export interface Token {
  readonly kind: "app" | "user";
  readonly value: string;
  readonly app_id: string;
  readonly account_ids: Set<string>;
  readonly permissions: readonly Permission[];
  expires_at: number | null;
}

export interface Media {
  readonly kind: "media";
  readonly id: string;
  readonly phone_id: string;
  readonly mime_type: string;
  readonly file_name: string | null;
  readonly bytes: Buffer;
  readonly sha256: string;
  readonly expires_at: number;
}

/** A resumable upload, whose handle is a sample for a template's header. */
export interface Upload {
  readonly id: string;
  readonly app_id: string;
  readonly file_length: number;
  readonly file_type: string;
  bytes: Buffer;
  handle: string | null;
}

export type Node = App | Account | Phone | Media | Template;
export type NodeKind = Node["kind"];

export interface Store extends CustomerIndex {
  readonly nodes: Map<string, Node>;
  readonly tokens: Map<string, Token>;
  readonly uploads: Map<string, Upload>;
  readonly handles: Map<string, Upload>;
  readonly sent: Map<string, SentMessage>;
  readonly inbound: Map<string, InboundRecord>;
  /** Deleted names of approved templates: `account:name` to the time from which they can be used again. */
  readonly reservedNames: Map<string, number>;
}

export function createStore(): Store {
  return {
    nodes: new Map(),
    tokens: new Map(),
    uploads: new Map(),
    handles: new Map(),
    customers: new Map(),
    customerIds: new Map(),
    sent: new Map(),
    inbound: new Map(),
    reservedNames: new Map(),
  };
}

export function nodesOf<Kind extends NodeKind>(store: Store, kind: Kind): Extract<Node, { kind: Kind }>[] {
  return [...store.nodes.values()].filter((node) => isKind(node, kind));
}

export function findNode<Kind extends NodeKind>(
  store: Store,
  kind: Kind,
  id: string,
): Extract<Node, { kind: Kind }> | undefined {
  const node = store.nodes.get(id);
  return node !== undefined && isKind(node, kind) ? node : undefined;
}

function isKind<Kind extends NodeKind>(node: Node, kind: Kind): node is Extract<Node, { kind: Kind }> {
  return node.kind === kind;
}

/** An id that no other object has: accounts, numbers, templates and media share one namespace. */
export function newNodeId(store: Store): string {
  const id = newId();
  return store.nodes.has(id) ? newNodeId(store) : id;
}

/** The account that an object belongs to; an app belongs to none. */
export function accountOf(store: Store, node: Node): Account | undefined {
  if (node.kind === "account") {
    return node;
  }
  if (node.kind === "media") {
    const phone = findNode(store, "phone", node.phone_id);
    return phone && findNode(store, "account", phone.account_id);
  }
  return node.kind === "app" ? undefined : findNode(store, "account", node.account_id);
}
