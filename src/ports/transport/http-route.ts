/** HTTP routes that are not operations: files, webhooks of other services, pages, controls of an adapter. */
import type { ApiSchema, Operation, ScopeRule } from "../../../tools/contract/index.ts";
import type { Caller } from "./caller.ts";

/**
 * A route. Its credential and its body decide what its handler gets; `Extra` are more
 * arguments of the handler.
 */
export type HttpRoute<Extra extends readonly unknown[] = []> = {
  [Body in BodyKind]: RouteWithBody<Body, Extra>;
}[BodyKind];

export type RouteWithBody<Body extends BodyKind, Extra extends readonly unknown[] = []> =
  | PublicRoute<Body, Extra>
  | CredentialRoute<Body, Extra>;

/** A route without a credential: its handler verifies the request itself, for example by a signature. */
interface PublicRoute<Body extends BodyKind, Extra extends readonly unknown[]> extends Declaration<Body> {
  readonly credential: "none";
  /** Whether requests try a password: the limits of the operations that take one apply. Default: false. */
  readonly triesPassword?: boolean;
  /**
   * Whether requests that are rejected with a Failure are limited, by the network of the client and the path.
   * Default: false.
   */
  readonly limitsRejections?: boolean;
  /**
   * Throws a Failure if nothing is at the path with these placeholders. With `limitsRejections` it is called
   * before the body is read, and its failures are limited by the network of the client and the route.
   */
  requireTarget?(params: HttpRequest<Body>["params"], ...extra: Extra): Promise<void>;
  handle(request: HttpRequest<Body>, ...extra: Extra): Promise<HttpAnswer>;
}

/** A route that requires an API key or an access token with these scopes. */
export interface CredentialRoute<Body extends BodyKind, Extra extends readonly unknown[] = []>
  extends Declaration<Body> {
  readonly credential: "any";
  /** Null: the handler checks the scopes. */
  readonly scope: ScopeRule | null;
  /** The operation that rules have to allow for it. Default: rules that list operations do not allow it. */
  readonly operation?: string;
  /** Whether it reads many rows as a file, which rules may leave to a person. Default: false. */
  readonly isExport?: boolean;
  handle(request: CredentialRequest<Body>, ...extra: Extra): Promise<HttpAnswer>;
}

interface Declaration<Body extends BodyKind> {
  readonly methods: readonly (Operation["method"] | "HEAD")[];
  /** With placeholders in braces: `/simulator/phones/{number}/messages`. */
  readonly path: string;
  /** By default the route is not in the OpenAPI document. */
  readonly about?: RouteDescription;
  readonly body: Body;
  /** A larger body is rejected; by default the limit of the server, which is lower without a credential. */
  readonly maxBodyBytes?: number;
  /** Default: true. */
  readonly isRateLimited?: boolean;
  /** Whether requests must come from a page that this service serves. Default: false. */
  readonly isForOwnPages?: boolean;
}

/** What the OpenAPI document says of a route: of its first method, if it has several. */
export interface RouteDescription {
  /** As the name of an operation: `get_file`. */
  readonly name: string;
  readonly tag: string;
  readonly title: string;
  readonly description: string;
  /** The parameters in the query. */
  readonly query?: ApiSchema;
  readonly body?: { readonly schema: ApiSchema; readonly example: object };
  readonly response: {
    readonly status: 200 | 201;
    /** The form of the body, or its media type if it is not JSON. */
    readonly body: ApiSchema | string;
  };
}

/** What a handler gets for each kind of body. */
interface Bodies {
  readonly none: undefined;
  /** Parsed; undefined if there is none. */
  readonly json: unknown;
  /** The bytes as they were sent, of any content type. */
  readonly raw: Uint8Array;
}

export type BodyKind = keyof Bodies;

export interface HttpRequest<Body extends BodyKind> {
  /** The placeholders of the path, decoded. */
  readonly params: Readonly<Record<string, string>>;
  /** A repeated parameter is a list. */
  readonly query: Readonly<Record<string, string | readonly string[]>>;
  /** By name in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** Whether the method is HEAD: the answer needs no body. */
  readonly isHead: boolean;
  readonly body: Bodies[Body];
}

export interface CredentialRequest<Body extends BodyKind> extends HttpRequest<Body> {
  /** The organization of the credential. */
  readonly organization_id: string;
  readonly caller: Caller;
}

/**
 * An answer, or the invalid field of the request and what is wrong with it; an empty field is the whole body.
 */
export type HttpAnswer =
  | {
      readonly status: number;
      readonly headers?: Readonly<Record<string, string | number>>;
      /** An object is sent as JSON; a text without a `content-type` as text/plain. */
      readonly body?: JsonObject | string | Uint8Array | AsyncIterable<Uint8Array>;
    }
  | { readonly invalid: { readonly field: string; readonly message: string } };

type JsonObject = Readonly<Record<string, unknown>>;
