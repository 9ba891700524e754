/**
 * Serves requests that the process itself makes, for the tool calls of /mcp: their caller is known and
 * counted, and there is no socket. Everything else works as for a REST request: the id, the span and the
 * metric, the limits of the body, and the errors.
 */
import { coerceFields, type Operation, pathFields } from "../../../tools/contract/index.ts";
import { fail } from "../../../tools/errors.ts";
import type { Log } from "../../ports/telemetry/log.ts";
import type { Metrics, Tracer } from "../../ports/telemetry/telemetry.ts";
import type { Form } from "../../ports/transport/form.ts";
import type { OperationRequest, OperationResponse } from "../../ports/transport/operation-request.ts";
import type { RequestActor } from "../admission/index.ts";
import type { ReadJsonBody } from "../bodies/index.ts";
import { failureHeaders, type ReportError } from "../error-response.ts";
import { toRequestId } from "../request-id.ts";
import { describeSpan, describeSpanEnd } from "../telemetry.ts";
import { declaredType } from "./multipart.ts";
import { createRunningRequests } from "./running.ts";
import { hasQuery, type OperationRoute, type ServeOperation } from "./serve.ts";

export interface InProcessOptions {
  readonly serve: ServeOperation;
  readonly operations: Readonly<Record<string, Operation>>;
  readonly readJson: ReadJsonBody;
  readonly reportError: ReportError;
  /** The largest body, in bytes. */
  readonly bodyLimit: number;
  readonly telemetry: { readonly metrics: Metrics; readonly tracer: Tracer };
  readonly log: Log;
}

export interface InProcessService {
  /** `signal` aborts when the sender no longer waits for the response. */
  send(actor: RequestActor, request: OperationRequest, signal: AbortSignal): Promise<OperationResponse>;
  /** Resolves when no request is running. */
  idle(): Promise<void>;
  /** Aborts the running requests. */
  abort(): void;
}

export function createInProcessService(options: InProcessOptions): InProcessService {
  const { operations, telemetry, log } = options;
  const { metrics, tracer } = telemetry;
  const running = createRunningRequests();
  const routes = new Map(
    Object.entries(operations).map(([name, operation]): [string, OperationRoute] => {
      const { method, path } = operation;
      return [`${method} ${path}`, { name, operation, path }];
    }),
  );

  return {
    async send(actor, request, signal) {
      const { method, path, headers } = request;
      const route = routes.get(`${method} ${path}`);
      if (!route) {
        throw new Error(`There is no operation ${method} ${path}`);
      }
      const id = toRequestId(headers["x-request-id"]);
      const startedAt = performance.now();
      const span = tracer.startSpan(describeSpan({ operation: route.name, method, route: path, headers }));
      const response = await span.within(() =>
        running.run(signal, (ownSignal) =>
          respond(options, { id, actor, route, request, signal: ownSignal }),
        ),
      );
      const { status } = response;
      const ms = performance.now() - startedAt;
      span.end(describeSpanEnd(status));
      metrics.request({ operation: route.name, method, status, seconds: ms / 1000 });
      log.debug({ method, route: path, status, ms: Math.round(ms), request_id: id }, "answered");
      return response;
    },
    idle: running.idle,
    abort: running.abort,
  };
}

interface SentRequest {
  readonly id: string;
  readonly actor: RequestActor;
  readonly route: OperationRoute;
  readonly request: OperationRequest;
  readonly signal: AbortSignal;
}

async function respond(options: InProcessOptions, sentRequest: SentRequest): Promise<OperationResponse> {
  const { id, route, actor, request, signal } = sentRequest;
  const headers: Record<string, string> = { "x-request-id": id };
  try {
    const { params, ...content } = await readContent(options, sentRequest);
    const { status, body } = await options.serve({
      route,
      transport: "mcp",
      actor,
      headers: request.headers,
      params,
      ...content,
      signal,
      setHeader: (name, value) => {
        headers[name] = value;
      },
    });
    return { status, headers, body };
  } catch (error) {
    const routeOptions = { url: route.path, bodyLimit: options.bodyLimit };
    const failure = options.reportError(error, { id, routeOptions });
    return {
      status: failure.status,
      headers: { ...headers, ...failureHeaders(failure, id) },
      // In the form in which it is sent over HTTP, without undefined members.
      body: JSON.parse(JSON.stringify(failure.body(id))),
    };
  }
}

/** Divides the fields into fields of the path and fields of the query or the body. */
async function readContent(
  options: InProcessOptions,
  { actor, route: { operation, path }, request: { fields, file } }: SentRequest,
) {
  const inPath = pathFields(path);
  const entries = Object.entries(fields);
  const params = Object.fromEntries(inPath.map((name) => [name, String(fields[name])]));
  const others = Object.fromEntries(entries.filter(([name]) => !inPath.includes(name)));
  if (file) {
    return { params, sent: undefined, form: toForm(operation, others, file) };
  }
  if (hasQuery(operation)) {
    const sent = Object.entries(others).filter(([, value]) => value !== undefined && value !== null);
    return { params, sent: Object.fromEntries(sent), form: undefined };
  }
  const owner = actor.caller?.organization_id ?? "";
  return { params, sent: await readBody(options, JSON.stringify(others), owner), form: undefined };
}

/**
 * The body passes through the reader of REST bodies, so that the same bodies are rejected and large bodies
 * wait for their turn.
 */
function readBody(
  { readJson, bodyLimit }: Pick<InProcessOptions, "readJson" | "bodyLimit">,
  text: string,
  owner: string,
): Promise<unknown> {
  const size = Buffer.byteLength(text);
  if (size > bodyLimit) {
    throw fail("body_too_large", { limit: bodyLimit });
  }
  return new Promise((resolve, reject) => {
    readJson({ size, owner, decode: () => text }, (error, value) => (error ? reject(error) : resolve(value)));
  });
}

function toForm(
  operation: Operation,
  sent: OperationRequest["fields"],
  { name, type, open }: NonNullable<OperationRequest["file"]>,
): Form {
  return {
    async read(receive) {
      const file = await receive({ name, type: declaredType(type), body: open() });
      return { file, fields: coerceFields(operation.input, sent) };
    },
  };
}
