/** The objects as `GET /{id}` shows them. */
import { invalidParameter } from "../contract/graph-error.ts";
import type { Media, Node, Phone } from "../state/store.ts";
import type { World } from "../world.ts";

export type Description = Readonly<Record<string, unknown>>;

/** The address of a file is valid this long. */
export const mediaUrlMs = 300_000;

/** What an object shows without `fields`; the rest only by name. */
const defaults: Readonly<Record<Node["kind"], readonly string[]>> = {
  app: ["id", "name"],
  account: ["id", "name", "timezone_id", "message_template_namespace"],
  phone: [
    "id",
    "display_phone_number",
    "verified_name",
    "quality_rating",
    "code_verification_status",
    "platform_type",
    "throughput",
  ],
  media: ["url", "mime_type", "sha256", "file_size", "id", "messaging_product"],
  template: [
    "id",
    "name",
    "language",
    "status",
    "category",
    "parameter_format",
    "components",
    "message_send_ttl_seconds",
  ],
};

/** All fields of an object. */
export function describe(
  world: World,
  node: Node,
): { readonly kind: Node["kind"]; readonly all: Description } {
  return { kind: node.kind, all: describeAll(world, node) };
}

/**
 * The fields that the query asks for, and always the id.
 * @throws GraphError for a field that does not exist
 */
export function selectFields(
  { kind, all }: ReturnType<typeof describe>,
  query: URLSearchParams,
): Description {
  const fields = query
    .get("fields")
    ?.split(",")
    .map((name) => name.trim())
    .filter(Boolean);
  const names = fields && fields.length > 0 ? [...fields, "id"] : defaults[kind];
  const unknown = names.find((name) => !Object.hasOwn(all, name));
  if (unknown !== undefined) {
    throw invalidParameter(`Tried accessing nonexisting field (${unknown})`);
  }
  return Object.fromEntries(names.filter((name) => all[name] !== null).map((name) => [name, all[name]]));
}

function describeAll(world: World, node: Node): Description {
  if (node.kind === "app") {
    return { id: node.id, name: node.name };
  }
  if (node.kind === "account") {
    const { id, name } = node;
    return {
      id,
      name,
      timezone_id: "1",
      message_template_namespace: `namespace_${id}`,
      currency: "USD",
      account_review_status: "APPROVED",
      business_verification_status: "verified",
    };
  }
  if (node.kind === "media") {
    return describeMedia(world, node);
  }
  if (node.kind === "phone") {
    return {
      id: node.id,
      display_phone_number: formatNumber(node.number),
      verified_name: node.verified_name,
      quality_rating: node.quality_rating,
      status: node.status,
      platform_type: node.status === "DISCONNECTED" ? "NOT_APPLICABLE" : "CLOUD_API",
      throughput: { level: throughputOf(node) },
      code_verification_status: "VERIFIED",
      name_status: "APPROVED",
      account_mode: "LIVE",
      is_official_business_account: false,
      is_pin_enabled: node.pin !== null,
      is_on_biz_app: false,
      whatsapp_business_manager_messaging_limit: node.messaging_limit,
      messaging_limit_tier: node.messaging_limit,
    };
  }
  const { id, name, language, status, category, parameter_format, components, rejected_reason } = node;
  return {
    id,
    name,
    language,
    status,
    category,
    parameter_format,
    components,
    rejected_reason,
    message_send_ttl_seconds: node.message_send_ttl_seconds,
    quality_score: { score: node.quality, date: Math.floor(world.clock.now() / 1000) },
  };
}

export function throughputOf({ messages_per_second }: Phone): "HIGH" | "STANDARD" {
  return messages_per_second > 80 ? "HIGH" : "STANDARD";
}

/** The size is a number, the hash in base64. */
export function describeMedia(world: World, media: Media): Description {
  const { id, mime_type, sha256, bytes } = media;
  const url = mediaUrl(world, media);
  return { url, mime_type, sha256, file_size: bytes.length, id, messaging_product: "whatsapp" };
}

export const mediaPath = "/whatsapp_business/attachments/";

export function mediaUrl({ baseUrl, clock }: World, { id, sha256 }: Media): string {
  const query = new URLSearchParams({
    mid: id,
    ext: String(clock.now() + mediaUrlMs),
    hash: Buffer.from(sha256, "base64").toString("base64url").slice(0, 24),
  });
  return `${baseUrl()}${mediaPath}?${query}`;
}

/** With the calling code apart, where it is a known one of one digit; the rest in groups. */
function formatNumber(digits: string): string {
  const match = /^(1)(\d{3})(\d{3})(\d{4})$/.exec(digits);
  return match ? `+${match[1]} ${match[2]}-${match[3]}-${match[4]}` : `+${digits}`;
}
