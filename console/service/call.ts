/** Calls operations of the service by name, with the types of the catalogue. */
import { operations } from "virtual:operations";
import type { InputOf, OutputOf } from "../../tools/contract/index.ts";
import type { catalogue } from "../../tools/index.ts";
import { getToken, renewSession } from "../session/session.ts";
import { ServiceError } from "./errors.ts";
import { request } from "./request.ts";

type Catalogue = typeof catalogue;
type OperationName = keyof Catalogue & string;
export type Input<Name extends OperationName> = InputOf<Catalogue[Name]>;
/** The body of the operation's answer. */
export type Answer<Name extends OperationName> = OutputOf<Catalogue[Name]>;

interface CallOptions {
  readonly signal?: AbortSignal;
  /** Makes a repeated call have one effect. */
  readonly idempotencyKey?: string;
  /** The variant of the operation that has a path of its own. */
  readonly variant?: string;
}

/** @throws ServiceError, ConnectionError */
export async function call<Name extends OperationName>(
  name: Name,
  input: Input<Name>,
  { signal, idempotencyKey, variant }: CallOptions = {},
): Promise<Answer<Name>> {
  const { method, path, body } = address(variant === undefined ? name : `${name} ${variant}`, input);
  const answer = await authorized(path, {
    method,
    headers: {
      ...(body === undefined ? {} : { "content-type": "application/json" }),
      ...(idempotencyKey === undefined ? {} : { "idempotency-key": idempotencyKey }),
    },
    ...(body === undefined ? {} : { body }),
    ...(signal === undefined ? {} : { signal }),
  });
  return (await answer.json()) as Answer<Name>; // the service serializes by the same schema
}

/** Sends a request with the access token. */
export function authorized(path: string, options: RequestInit): Promise<Response> {
  return withToken((token) =>
    request(path, { ...options, headers: { ...options.headers, authorization: `Bearer ${token}` } }),
  );
}

/** Sends something with the access token, once more with a new token if the token has ended. */
export async function withToken<Result>(send: (token: string) => Promise<Result>): Promise<Result> {
  try {
    return await send(await getToken());
  } catch (error) {
    if (error instanceof ServiceError && error.status === 401) {
      await renewSession();
      return send(await getToken());
    }
    throw error;
  }
}

/** Fields that the path names travel there, the others in the query or the body. */
function address(name: string, input: object) {
  const [method, template] = operations[name] ?? fail(name);
  const rest = new Map<string, unknown>(Object.entries(input).filter(([, value]) => value !== undefined));
  const path = template.replace(/\{(\w+)\}/g, (_, field: string) => {
    const value = String(rest.get(field));
    rest.delete(field);
    return encodeURIComponent(value);
  });
  if (method === "GET" || method === "DELETE") {
    const query = new URLSearchParams([...rest].map(([field, value]) => [field, String(value)]));
    return { method, path: rest.size > 0 ? `${path}?${query}` : path, body: undefined };
  }
  return { method, path, body: JSON.stringify(Object.fromEntries(rest)) };
}

function fail(name: string): never {
  throw new Error(`There is no operation ${name}.`);
}
