/** A service that answers every operation with a sample of its output. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { allScopes, type JsonSchema, type Operation, toJsonSchema } from "../../tools/contract/index.ts";
import { catalogue } from "../../tools/index.ts";

interface Route {
  readonly method: string;
  readonly pattern: RegExp;
  readonly status: number;
  readonly body: unknown;
}

export async function startSampleService(): Promise<{ readonly url: string } & AsyncDisposable> {
  const routes = Object.entries<Operation>(catalogue).map(toRoute);
  const server = createServer((request, response) => {
    const path = request.url?.split("?")[0] ?? "";
    const route = routes.find(({ method, pattern }) => method === request.method && pattern.test(path));
    request.resume();
    request.on("end", () => {
      response.writeHead(route?.status ?? 404, { "content-type": "application/json" });
      response.end(JSON.stringify(route?.body ?? {}));
    });
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  const { port } = server.address() as AddressInfo; // it listens on a TCP port
  return {
    url: `http://127.0.0.1:${port}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((closed) => server.close(closed));
    },
  };
}

/** The list of tools is missing, as in a service of another kind: then all tools are offered. */
function toRoute([name, { method, path, status, output }]: [string, Operation]): Route {
  const body = name === "whoami" ? { data: { scopes: allScopes } } : sample(toJsonSchema(output, "output"));
  const pattern = new RegExp(`^${path.replace(/\{\w+\}/g, "[^/]+")}$`);
  return name === "list_mcp_tools"
    ? { method, pattern, status: 404, body: {} }
    : { method, pattern, status, body };
}

/** Also valid base64: a client checks the bytes of an image. */
const sampleText = "text";

const samples: Readonly<Record<string, (schema: JsonSchema) => unknown>> = {
  object: ({ properties = {} }) =>
    Object.fromEntries(
      Object.entries(properties as Readonly<Record<string, JsonSchema>>).map(([name, field]) => [
        name,
        sample(field),
      ]),
    ),
  array: ({ items }) => [sample(items as JsonSchema)],
  string: ({ enum: names, format }) =>
    Array.isArray(names) ? names[0] : format === "date-time" ? "2030-01-01T00:00:00Z" : sampleText,
  integer: () => 1,
  number: () => 1,
  boolean: () => true,
};

function sample(schema: JsonSchema): unknown {
  const { anyOf } = schema;
  return Array.isArray(anyOf) ? sample(anyOf[0]) : (samples[String(schema.type)]?.(schema) ?? null);
}
