/**
 * What an operation is: one thing that may be asked of the service, declared once for every face.
 *
 * From a declaration follow the REST route, the MCP tool, the OpenAPI entry, the typed client and the
 * tests that hold for every operation. Input is flat: a field named in the path travels there, the
 * rest in the query (GET, DELETE) or in the JSON body.
 */
import { z } from "zod";
import { page, pageSize } from "./fields.ts";
import type { ScopeRule } from "./scopes.ts";

export type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";

/** Which credential a path takes: a key or an access token, only an access token, or none at all. */
export type Credential = "any" | "bearer" | "none";

export type Encoding = "json" | "multipart";

/**
 * How a call runs: a read without a transaction; a write inside one, with the answer stored for its
 * idempotency key; an outward call, which reaches another's server and so has no transaction; a streamed
 * call, which takes in a file before its transaction; a delegated call, which runs another operation whose
 * rules hold; or a public call, which has no caller and sees to its own transaction.
 */
export type Effect = "read" | "write" | "outward" | "delegated" | "streamed" | "public";

/** Of the effects, those that a declaration names; the others follow from it. */
type DeclaredEffect = "delegated" | "outward" | "read" | "streamed";

export interface Hints {
  readonly readOnly: boolean;
  readonly destructive: boolean;
  readonly idempotent: boolean;
  readonly openWorld: boolean;
}

/** A second address of the same operation (the specification's two path families). */
export interface OtherPath {
  readonly path: string;
  readonly credential: Credential;
  /** The scope needed there; the operation's own when left out. */
  readonly scope?: ScopeRule | null;
}

/**
 * A tool whose input differs from its route's. `fixed` is always sent; `place` says where a field
 * travels when the route has no field of that name (`body: "text.body"`).
 */
export interface ToolForm {
  readonly title: string;
  readonly description: string;
  readonly input: z.ZodObject;
  readonly fixed?: Readonly<Record<string, unknown>>;
  readonly place?: Readonly<Record<string, string>>;
  /** Fields that only a face on its user's own machine offers: it acts on them, and no route knows them. */
  readonly local?: z.ZodObject;
}

export interface Operation<
  Kind extends Effect = Effect,
  Input extends z.ZodObject = z.ZodObject,
  Output extends z.ZodObject = z.ZodObject,
> {
  readonly method: Method;
  readonly path: string;
  readonly also: readonly OtherPath[];
  readonly credential: Credential;
  readonly scope: ScopeRule | null;
  readonly title: string;
  readonly description: string;
  readonly input: Input;
  readonly output: Output;
  readonly status: 200 | 201;
  /** Core is listed to an assistant by default: the specification's, and those it can't do without. */
  readonly tier: "core" | "extended";
  /** Its answer may take as long as the caller's `timeout_seconds` allows. */
  readonly waits: boolean;
  readonly hints: Hints;
  readonly effect: Kind;
  /** Its answer shows a secret once: what is kept of it for a repeated request is sealed. */
  readonly showsSecret: boolean;
  /** How a body travels; multipart carries a file. */
  readonly encoding: Encoding;
  /** The tools offered in place of the one that follows from the operation; `{}` offers none. */
  readonly tools: Readonly<Record<string, ToolForm>> | undefined;
}

/** What the caller of an operation sends, before defaults. */
export type InputOf<Op extends Operation> = z.input<Op["input"]>;
/** What the caller of an operation is given. */
export type OutputOf<Op extends Operation> = z.output<Op["output"]>;

type PathField<Path extends string> = Path extends `${string}{${infer Field}}${infer Rest}`
  ? Field | PathField<Rest>
  : never;

/** Where a tool's field may be placed: a field of the route, or a member of an object field. */
type Place<Input> = {
  [Key in keyof Input & string]:
    | Key
    | (NonNullable<Input[Key]> extends readonly unknown[]
        ? never
        : NonNullable<Input[Key]> extends object
          ? `${Key}.${keyof NonNullable<Input[Key]> & string}`
          : never);
}[keyof Input & string];

/** One tool's form; a field that the route does not know must be placed. */
type FormOf<Route, Fields> = {
  readonly title: string;
  readonly description: string;
  readonly input: z.ZodObject<Fields & z.core.$ZodLooseShape>;
  readonly fixed?: Partial<Route>;
  readonly local?: z.ZodObject;
  readonly place?: { readonly [Key in keyof Fields]?: Place<Route> } & {
    readonly [Key in Exclude<keyof Fields, keyof Route>]: Place<Route>;
  };
};

type EffectOf<Verb extends Method, Access extends Credential, Declared> = Access extends "none"
  ? "public"
  : Declared extends DeclaredEffect
    ? Declared
    : Verb extends "GET"
      ? "read"
      : "write";

interface Declaration<
  Verb extends Method,
  Path extends string,
  Access extends Credential,
  Declared extends DeclaredEffect | undefined,
  Shape extends z.core.$ZodLooseShape,
  Output extends z.ZodObject,
  Forms,
> {
  readonly method: Verb;
  readonly path: Path;
  readonly also?: readonly OtherPath[];
  readonly credential?: Access;
  readonly scope: ScopeRule | null;
  readonly title: string;
  readonly description: string;
  readonly input: z.ZodObject<Shape>;
  readonly output: Output;
  readonly status?: 200 | 201;
  readonly tier?: "core" | "extended";
  readonly waits?: boolean;
  readonly hints?: Partial<Hints>;
  /** `read` for a question that travels by POST, because it does not fit a query. */
  readonly effect?: Declared;
  readonly showsSecret?: boolean;
  readonly encoding?: Encoding;
  readonly tools?: {
    readonly [Name in keyof Forms]: FormOf<z.input<z.ZodObject<Shape>>, Forms[Name]>;
  };
}

/** Declares an operation. A path placeholder without a field in `input` does not compile. */
export function operation<
  const Verb extends Method,
  const Path extends string,
  Shape extends z.core.$ZodLooseShape & Record<PathField<Path>, z.ZodType>,
  Output extends z.ZodObject,
  const Access extends Credential = "any",
  const Declared extends DeclaredEffect | undefined = undefined,
  Forms = Record<never, never>,
>(
  declaration: Declaration<Verb, Path, Access, Declared, Shape, Output, Forms>,
): Operation<EffectOf<Verb, Access, Declared>, z.ZodObject<Shape>, Output> {
  const isPublic = declaration.credential === "none";
  const effect = isPublic
    ? "public"
    : (declaration.effect ?? (declaration.method === "GET" ? "read" : "write"));
  return {
    also: [],
    credential: "any",
    status: 200,
    tier: "core",
    waits: false,
    showsSecret: false,
    encoding: "json",
    ...declaration,
    // The same rule as the type's, one line above.
    effect: effect as EffectOf<Verb, Access, Declared>,
    hints: { ...hintsOf[effect === "read" ? "GET" : declaration.method], ...declaration.hints },
    // The mapping was checked field by field above; from here on it is walked by name.
    tools: declaration.tools as Record<string, ToolForm> | undefined,
  };
}

const hintsOf: Record<Method, Hints> = {
  GET: { readOnly: true, destructive: false, idempotent: true, openWorld: false },
  POST: { readOnly: false, destructive: false, idempotent: false, openWorld: false },
  PUT: { readOnly: false, destructive: true, idempotent: true, openWorld: false },
  PATCH: { readOnly: false, destructive: true, idempotent: true, openWorld: false },
  DELETE: { readOnly: false, destructive: true, idempotent: true, openWorld: false },
};

/** The names in a path's placeholders, in order: `/v1/contacts/{id}` → `["id"]`. */
export function pathFields(path: string): string[] {
  return [...path.matchAll(/\{(\w+)\}/g)].flatMap(([, name]) => name ?? []);
}

/** The answer that holds one thing. */
export function one<Data extends z.ZodType>(data: Data) {
  return z.object({ data });
}

/** The answer that lists everything. */
export function all<Data extends z.ZodType>(data: Data) {
  return z.object({ data: z.array(data), meta: z.object({ total: z.int() }) });
}

/** The answer that lists one page. */
export function paged<Data extends z.ZodType>(data: Data) {
  return z.object({
    data: z.array(data),
    meta: z.object({
      page: z.int(),
      per_page: z.int(),
      total: z.int(),
      /** Only where a list is too long to be counted for each page. */
      total_is_estimate: z.literal(true).optional(),
    }),
  });
}

/** The input fields of a paged list; `size` is the page size when none is asked for. */
export function paging(size: number) {
  return { page, per_page: pageSize(size) };
}
