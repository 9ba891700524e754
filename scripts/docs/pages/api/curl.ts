/** An operation's request as a command for a shell. */
import type { DescribedOperation, Parameter } from "./document.ts";

interface Request extends Pick<DescribedOperation, "security" | "requestBody"> {
  readonly method: string;
  readonly path: string;
  readonly parameters: readonly Parameter[];
}

export function toCurl({ method, path, parameters, security, requestBody }: Request): string {
  const query = parameters.filter((parameter) => parameter.in === "query" && parameter.required);
  const search = query.map(({ name }) => `${name}=…`).join("&");
  const address = `localhost:3000${path.replace(/\{[^}]+\}/g, "…")}${search && `?${search}`}`;
  const example = requestBody?.content["application/json"]?.example;
  // curl sends GET without data, and POST with it.
  const usual = example === undefined ? "GET" : "POST";
  const words = [
    "curl",
    ...(method === usual ? [] : [`-X ${method}`]),
    quote(address),
    ...(security.length === 0 ? [] : ['-H "X-API-Key: $KEY"']),
    ...(example === undefined ? [] : ["-H 'Content-Type: application/json'", dataOf(example)]),
  ];
  return words.join(" ");
}

function dataOf(example: unknown): string {
  return `-d ${quote(JSON.stringify(example, null, 2), true)}`;
}

/** A word for a POSIX shell: plain if it may stay so. */
function quote(text: string, always = false): string {
  return always || /[?&\s]/.test(text) ? `'${text.replaceAll("'", "'\\''")}'` : text;
}
