/** Encodes the values of placeholders in a request, so that no value changes the structure around it. */
import type { NodeConfig } from "../../../../../tools/flows/index.ts";
import type { Problem } from "../graph/index.ts";
import { encodeJson, hasPlaceholder, renderText } from "../texts/placeholders.ts";

type Config = NodeConfig<"http_request">;
type Encode = (value: string) => string;

const entities: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

/** The encoder for each content type of a text body. */
const encoders = [
  { type: /^application\/x-www-form-urlencoded$/, encode: encodeURIComponent },
  { type: /[/+]json$/, encode: encodeJson },
  {
    type: /^text\/html$|[/+]xml$/,
    encode: (value: string) => value.replace(/[&<>"']/g, (one) => entities[one] ?? one),
  },
  { type: /^text\/plain$/, encode: (value: string) => value },
] as const;

/**
 * The content type of a request with this body. Undefined if the header that sets it is secret or has a
 * placeholder.
 */
export function contentTypeOf({ body, headers = {}, secret_headers = {} }: Config): string | undefined {
  const isType = ([name]: readonly [string, unknown]) => name.toLowerCase() === "content-type";
  if (Object.entries(secret_headers).some(isType)) {
    return undefined;
  }
  const [, type] = Object.entries(headers).find(isType) ?? [];
  if (type === undefined) {
    return typeof body === "string" ? "text/plain; charset=utf-8" : "application/json";
  }
  return hasPlaceholder(type) ? undefined : type;
}

/** The encoder for values in a text body; undefined if the type is not known. */
export function bodyEncoder(config: Config): Encode | undefined {
  return findEncoder(contentTypeOf(config))?.encode;
}

/**
 * Encodes line breaks, which would begin another header, and characters beyond ASCII, which have no common
 * encoding in headers.
 */
export function headerEncoder(name: string): Encode {
  return name.toLowerCase() === "cookie"
    ? encodeURIComponent
    : (value) => value.replace(/[^\x20-\x7e]+/g, encodeURIComponent);
}

/** Placeholders of a text body that may change its structure. `field` is the place of the action_config. */
export function findUnencoded(config: Config, field: string): readonly Problem[] {
  const { body } = config;
  if (typeof body !== "string" || !hasPlaceholder(body)) {
    return [];
  }
  const type = contentTypeOf(config);
  const encoder = findEncoder(type);
  const isOutside = encoder?.encode === encodeJson && !isJson(body);
  const message = isOutside
    ? "A placeholder stands outside the texts of this JSON, where a value can be anything."
    : `A body of the type ${type ?? "of a placeholder or a secret"} gets values as they are: what a contact writes can change its structure.`;
  return encoder && !isOutside
    ? []
    : [
        {
          field: `${field}.body`,
          code: "placeholder_not_encoded",
          message,
          fix: "Send body as an object, or with a Content-Type of JSON, a form, XML or plain text, and quotes around placeholders.",
        },
      ];
}

/** Whether the template is JSON whatever the values are. */
function isJson(template: string): boolean {
  const { text = "" } = renderText(template, { read: () => "x", maxLength: Number.POSITIVE_INFINITY });
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

function findEncoder(type: string | undefined) {
  const [name = ""] = type?.toLowerCase().split(";") ?? [];
  return encoders.find((one) => one.type.test(name.trim()));
}
