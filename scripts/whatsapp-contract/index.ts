/**
 * Extracts the schemas with which the WhatsApp emulator validates requests from Meta's OpenAPI document.
 *
 *   npx tsx scripts/whatsapp-contract/index.ts business-messaging-api_v23.0.yaml
 *
 * The document is business-messaging-api_v23.0.yaml of https://github.com/facebook/openapi (commit ecba623,
 * MIT, Copyright Meta Platforms). As published, the document rejects every message, including its own
 * examples. `repairs.json` contains the operations (RFC 6902) that make it usable, each with its reason:
 * composed objects are closed as a whole and not in parts, `recipient_type` is optional, a recipient may be a
 * business-scoped user id, documented limits and types are added, and required fields of templates are named.
 *
 * The result contains the messages by type, the read receipt, the bodies that create and edit a template, and
 * the registration of a number, with all schemas to which these refer. Descriptions, examples and formats
 * are left out, because they validate nothing here. `types.ts` generates the types of the WhatsApp adapter
 * from the result.
 */
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import repairs from "./repairs.json" with { type: "json" };

type Json = string | number | boolean | null | readonly Json[] | { readonly [name: string]: Json };
type Container = Record<string, unknown> | unknown[];

const target = "emulator/contract/schemas.json";
const templatesPath = "/paths/~1{Version}~1{WABA-ID}~1message_templates";
const templatePath = "/paths/~1{Version}~1{TEMPLATE_ID}";
/** Keywords that validate nothing here. */
const omitted = ["description", "example", "examples", "format", "discriminator", "default"];
/**
 * No request refers to these schemas: they are the precise forms of the components of a template message, for
 * the types.
 */
const components = ["HeaderComponent", "BodyComponent", "ButtonComponent", "LimitedTimeOfferComponent"];
const registration = "WhatsAppBusinessPhoneNumberRegistrationRequest";
const bodyPath = "/post/requestBody/content/application~1json/schema";

const [file] = process.argv.slice(2);
if (file === undefined) {
  throw new Error("Give the path of business-messaging-api_v23.0.yaml.");
}
const document = readYaml(file);
for (const { op, path, value } of repairs) {
  repair(op, path, value);
}
// The document has names of schemas there.
const messages = read("/components/schemas/Message/discriminator/mapping") as Record<string, string>;
const entries = {
  ...Object.fromEntries(Object.values(messages).map((ref) => [nameOf(ref), read(ref.slice(1))])),
  MarkMessageRequestPayload: read("/components/schemas/MarkMessageRequestPayload"),
  ...Object.fromEntries(components.map((name) => [name, read(`/components/schemas/${name}`)])),
  CreateTemplate: read(templatesPath + bodyPath),
  EditTemplate: read(templatePath + bodyPath),
  [registration]: read(`/components/schemas/${registration}`),
};
const types = Object.fromEntries(Object.entries(messages).map(([type, ref]) => [type, nameOf(ref)]));
writeFileSync(target, `${JSON.stringify({ messages: types, $defs: collect(entries) })}\n`);

/** The package that reads YAML is downloaded by npx, because no other script needs it. */
function readYaml(path: string): Container {
  const output = execFileSync("npx", ["-y", "yaml@2.8.1", "--json"], {
    input: readFileSync(path),
    maxBuffer: 2 ** 26,
  });
  return JSON.parse(output.toString("utf8"))[0];
}

function repair(operation: string, path: string, value: unknown): void {
  const cut = path.lastIndexOf("/");
  const parent = read(path.slice(0, cut)) as Container; // a member of it is replaced
  const name = unescapePointer(path.slice(cut + 1));
  if (operation === "remove" && !Array.isArray(parent)) {
    delete parent[name];
  } else if (Array.isArray(parent)) {
    parent.splice(name === "-" ? parent.length : Number(name), 0, value);
  } else {
    parent[name] = value;
  }
}

/** @throws if the document has nothing there, because it is another version than the repairs are for. */
function read(pointer: string): unknown {
  let value: unknown = document;
  for (const part of pointer.split("/").slice(1)) {
    value = Object(value)[unescapePointer(part)];
  }
  if (value === undefined) {
    throw new Error(`The document has no ${pointer}.`);
  }
  return value;
}

/** The schemas and all schemas to which they refer, keyed by name. */
function collect(schemas: Readonly<Record<string, unknown>>): Record<string, Json> {
  const found: Record<string, Json> = {};
  const pending = Object.entries(schemas);
  for (let next = pending.shift(); next; next = pending.shift()) {
    const [name, schema] = next;
    found[name] ??= reduce(schema, (ref) => {
      if (found[nameOf(ref)] === undefined) {
        pending.push([nameOf(ref), read(ref.slice(1))]);
      }
    });
  }
  return found;
}

/** Removes keywords that validate nothing, and points references to `$defs`. Names of properties are kept. */
function reduce(schema: unknown, visit: (ref: string) => void, isProperties = false): Json {
  if (Array.isArray(schema)) {
    return schema.map((item) => reduce(item, visit));
  }
  if (typeof schema !== "object" || schema === null) {
    return schema as Json; // parsed from YAML
  }
  return Object.fromEntries(
    Object.entries(schema)
      .filter(([name]) => isProperties || !omitted.includes(name))
      .map(([name, value]) => {
        if (name === "$ref" && typeof value === "string") {
          visit(value);
          return [name, `#/$defs/${nameOf(value)}`];
        }
        return [name, reduce(value, visit, name === "properties" && !isProperties)];
      }),
  );
}

function nameOf(ref: string): string {
  return ref.split("/").at(-1) ?? "";
}

function unescapePointer(part: string): string {
  return part.replaceAll("~1", "/").replaceAll("~0", "~");
}
