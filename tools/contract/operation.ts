/**
 * Declares operations: one declaration serves every transport.
 *
 * The REST route, the MCP tool, the OpenAPI entry, the typed client and the common tests are derived from the
 * declaration. Input is flat: a field named in the path is sent there, the rest in the query (GET, DELETE) or
 * in the JSON body.
 */
import type { z } from "zod";
import { type Hints, hintsOfMethod } from "./hints.ts";
import type { ScopeRule } from "./scopes.ts";

export type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";

/**
 * The credential that a path requires: a key or an access token, only an access token, the access token of a
 * person who decides about other people's access, the operator's key, or none. An operation that requires a
 * person has no tool, so that an assistant can't call it with a person's token.
 */
export type Credential = "any" | "bearer" | "person" | "operator" | "none";

/** The credentials that are independent of an organization. */
type Ownerless = "operator" | "none";

export type Encoding = "json" | "multipart";

/**
 * How a call runs: a read without a transaction; a write inside one, with its response stored under the
 * idempotency key; an outward call, which contacts a third party and so has no transaction; a streamed
 * call, which receives a file before its transaction; a delegated call, which runs another operation under
 * that operation's rules; or a public call, which has no caller and opens its own transaction.
 */
export type Effect = "read" | "write" | "outward" | "delegated" | "streamed" | "public";

/** The effects that a declaration states; the other effects are derived. */
type DeclaredEffect = "delegated" | "outward" | "read" | "streamed";

/**
 * The fields in the `data` of an operation that waits, by which a timed-out answer shows how far it has come.
 */
export interface ProgressFields<Field extends string = string> {
  /** Their sum is the progress, which is shown with their names: "1,200 of 20,000 sent, 3 failed". */
  readonly counts: readonly [Field, ...Field[]];
  readonly total: Field;
}

/**
 * The first mode in which a tool is listed: for hosts with low limits, by default, or only with all others.
 */
export type ToolTier = "lean" | "core" | "extended";

/** An image in the `data` of a response. */
export interface OperationImage {
  /** The media type of the bytes. */
  readonly content_type: string;
  readonly base64: string;
}

/** A second path of the same operation (the specification has two path families). */
export interface OtherPath {
  readonly path: string;
  readonly credential: Credential;
  /** The scope that this path requires; by default the operation's own scope. */
  readonly scope?: ScopeRule | null;
  /** Passed to the handler, for a path that behaves differently. */
  readonly variant?: string;
  /** A path of an earlier version: it works, and no document names it. */
  readonly isFormer?: boolean;
}

/** The paths of an operation that the documents name, its own first. */
export function documentedPaths<Op extends Pick<Operation, "also" | "path" | "credential" | "scope">>(
  operation: Op,
): readonly (Op | OtherPath)[] {
  return [operation, ...operation.also.filter(({ isFormer }) => !isFormer)];
}

/**
 * An argument that names a file on the client's own machine. The client sends the file instead of the
 * argument.
 */
export interface LocalFileField {
  readonly field: string;
  readonly schema: z.ZodType;
  /** The fields that this field replaces. Exactly one of all these fields must be sent. */
  readonly insteadOf: readonly string[];
}

/**
 * A tool whose input differs from its route's input. `fixed` is always sent; `place` maps a field to the
 * place where the route expects it (`body: "text.body"`).
 */
export interface ToolMapping {
  readonly title: string;
  readonly description: string;
  readonly input: z.ZodObject;
  readonly fixed?: Readonly<Record<string, unknown>>;
  readonly place?: Readonly<Record<string, string>>;
  /** By default its operation's. */
  readonly tier?: ToolTier;
  /** Offered only by a transport that runs on the user's machine; no route knows the field. */
  readonly local?: LocalFileField;
}

export interface Operation<
  Kind extends Effect = Effect,
  Input extends z.ZodObject = z.ZodObject,
  Output extends z.ZodObject = z.ZodObject,
  Also extends readonly OtherPath[] = readonly OtherPath[],
> {
  readonly method: Method;
  readonly path: string;
  readonly also: Also;
  readonly credential: Credential;
  readonly scope: ScopeRule | null;
  readonly title: string;
  readonly description: string;
  readonly input: Input;
  readonly output: Output;
  readonly status: 200 | 201;
  /** By default core: the tools of the specification, and what everyday tasks need besides. */
  readonly tier: ToolTier;
  /** The response may take as long as the caller's `timeout_seconds` allows. */
  readonly waits: boolean;
  /** The response may take this long, because it waits for a third party. */
  readonly waitSeconds?: number;
  /** Undefined if only the time is known while the operation waits. */
  readonly progress: ProgressFields | undefined;
  readonly hints: Hints;
  readonly effect: Kind;
  /**
   * Whether the response contains a secret that is shown once. The copy that is stored for idempotency is
   * sealed.
   */
  readonly showsSecret: boolean;
  /**
   * Whether the input contains a password. Such requests are limited more strictly, by address and by
   * account.
   */
  readonly sensitive: boolean;
  /** The field of the input that names a tool whose call it plans. */
  readonly plansTool: string | undefined;
  /** The member of `data` that lists tool calls, each with the tool's name in `tool`. */
  readonly offers: string | undefined;
  /**
   * The member of `data` that lists hidden tools (`HiddenTools`); a transport adds those
   * that its settings hide.
   */
  readonly hides: string | undefined;
  /**
   * The member of `data` that has an image: its `content_type` and its bytes as `base64`, or null. MCP sends
   * it as an image, and the answer without its bytes.
   */
  readonly image: string | undefined;
  /** The encoding of the request body; multipart also carries a file. */
  readonly encoding: Encoding;
  /** Headers that are sent over HTTP with a successful response. */
  readonly responseHeaders: Readonly<Record<string, string>>;
  /**
   * Whether a call may wait for a person, if the rules of its credential say so: it is then answered with 202
   * and a plan.
   */
  readonly parked: boolean;
  /** The statuses of its failures that do not follow from its method, its path, its input and its effect. */
  readonly failures: readonly number[];
  /** The tools that replace the derived tool; `{}` declares none. */
  readonly tools: Readonly<Record<string, ToolMapping>> | undefined;
}

/** What a caller sends, before defaults are applied. */
export type InputOf<Op extends Operation> = z.input<Op["input"]>;
/** What a caller receives. */
export type OutputOf<Op extends Operation> = z.output<Op["output"]>;
/** The variants that an operation's other paths declare. */
export type VariantOf<Op extends Operation> = Op["also"][number] extends {
  readonly variant: infer Variant extends string;
}
  ? Variant
  : never;

type PathField<Path extends string> = Path extends `${string}{${infer Field}}${infer Rest}`
  ? Field | PathField<Rest>
  : never;

/** Where `place` may put a tool's field: a field of the route, or a member of an object field. */
type Place<Input> = {
  [Key in keyof Input & string]:
    | Key
    | (NonNullable<Input[Key]> extends readonly unknown[]
        ? never
        : NonNullable<Input[Key]> extends object
          ? `${Key}.${keyof NonNullable<Input[Key]> & string}`
          : never);
}[keyof Input & string];

/** A typed tool mapping: a field that the route does not have must be placed. */
type MappingOf<Route, Fields> = {
  readonly title: string;
  readonly description: string;
  readonly input: z.ZodObject<Fields & z.core.$ZodLooseShape>;
  readonly fixed?: Partial<Route>;
  readonly tier?: ToolTier;
  readonly local?: LocalFileField & { readonly insteadOf: readonly (keyof Fields)[] };
  readonly place?: { readonly [Key in keyof Fields]?: Place<Route> } & {
    readonly [Key in Exclude<keyof Fields, keyof Route>]: Place<Route>;
  };
};

/** The members of a response's `data` that hold lists. */
type ListIn<Data> = {
  [Key in keyof Data & string]: Data[Key] extends readonly unknown[] ? Key : never;
}[keyof Data & string];

/** The members of a response's `data` that hold an image. */
type ImageIn<Data> = {
  [Key in keyof Data & string]: NonNullable<Data[Key]> extends OperationImage ? Key : never;
}[keyof Data & string];

/** The counts in the `data` of a response that has a member for the timeout of its wait. */
type CountIn<Data> = Data extends { readonly is_timed_out: boolean }
  ? { [Key in keyof Data & string]: Data[Key] extends number ? Key : never }[keyof Data & string]
  : never;

type EffectOf<Verb extends Method, Access extends Credential, Declared> = Access extends Ownerless
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
  Also extends readonly OtherPath[],
  Mappings,
> {
  readonly method: Verb;
  readonly path: Path;
  readonly also?: Also;
  readonly credential?: Access;
  readonly scope: ScopeRule | null;
  readonly title: string;
  readonly description: string;
  readonly input: z.ZodObject<Shape>;
  readonly output: Output;
  readonly status?: 200 | 201;
  readonly tier?: ToolTier;
  readonly waits?: boolean;
  readonly waitSeconds?: number;
  readonly progress?: z.output<Output> extends { data: infer Data } ? ProgressFields<CountIn<Data>> : never;
  readonly hints?: Partial<Hints>;
  /** `read` for a query that is sent by POST, because it is too large for a URL. */
  readonly effect?: Declared;
  readonly showsSecret?: boolean;
  readonly sensitive?: boolean;
  readonly plansTool?: keyof Shape & string;
  readonly offers?: z.output<Output> extends { data: infer Data } ? ListIn<Data> : never;
  readonly hides?: z.output<Output> extends { data: infer Data } ? ListIn<Data> : never;
  readonly image?: z.output<Output> extends { data: infer Data } ? ImageIn<Data> : never;
  readonly encoding?: Encoding;
  readonly responseHeaders?: Readonly<Record<string, string>>;
  /** By default, as every write. */
  readonly parked?: false;
  readonly failures?: readonly (402 | 404 | 409 | 422)[];
  readonly tools?: {
    readonly [Name in keyof Mappings]: MappingOf<z.input<z.ZodObject<Shape>>, Mappings[Name]>;
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
  const Also extends readonly OtherPath[] = readonly [],
  Mappings = Record<never, never>,
>(
  declaration: Declaration<Verb, Path, Access, Declared, Shape, Output, Also, Mappings>,
): Operation<EffectOf<Verb, Access, Declared>, z.ZodObject<Shape>, Output, Also> {
  const isPublic = declaration.credential === "none" || declaration.credential === "operator";
  const effect = isPublic
    ? "public"
    : (declaration.effect ?? (declaration.method === "GET" ? "read" : "write"));
  return {
    credential: "any",
    status: 200,
    tier: "core",
    waits: false,
    progress: undefined,
    showsSecret: false,
    sensitive: false,
    plansTool: undefined,
    offers: undefined,
    hides: undefined,
    image: undefined,
    encoding: "json",
    responseHeaders: {},
    failures: [],
    parked: (effect === "write" || effect === "outward") && (declaration.credential ?? "any") === "any",
    ...declaration,
    // If it is omitted, the type parameter is the empty list.
    also: declaration.also ?? ([] as readonly OtherPath[] as Also),
    // The value follows the rule of EffectOf.
    effect: effect as EffectOf<Verb, Access, Declared>,
    hints: { ...hintsOfMethod[effect === "read" ? "GET" : declaration.method], ...declaration.hints },
    // MappingOf has checked each mapping; from here on they are looked up by name.
    tools: declaration.tools as Record<string, ToolMapping> | undefined,
  };
}

/** The placeholder names of a path, in order: `/v1/contacts/{id}` → `["id"]`. */
export function pathFields(path: string): string[] {
  return [...path.matchAll(/\{(\w+)\}/g)].flatMap(([, name]) => name ?? []);
}
