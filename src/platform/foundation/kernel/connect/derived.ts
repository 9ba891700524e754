/**
 * The plan of a call that declares none: its validated input, and the version of the record that its path
 * names. The run does nothing if the record has another version. Planning rehearses the call:
 * otherwise a caller could plan what it may not do, and somebody with more rights would run it.
 */
import { createHash } from "node:crypto";
import { z } from "zod";
import { Failure, type Operation, pathFields } from "../../../../../tools/contract/index.ts";
import { fail } from "../../../../../tools/errors.ts";
import {
  type BoundOperation,
  describeCall,
  outwardStepsOf,
  parseInput,
  prepareHandler,
  rehearse,
} from "../call/index.ts";
import type { PrepareContext, WriteContext } from "../context.ts";
import type { AnyOutwardHandler } from "../module.ts";
import type { PreparedCall } from "../planned.ts";

export interface DerivedCall extends BoundOperation {
  readonly name: string;
  /** The parsed input. */
  readonly input: unknown;
}

const nothing = { targets: [], price: null, warnings: [], subjects: [] } as const;

type Operations = ReadonlyMap<string, BoundOperation>;

export async function prepareDerived(
  call: DerivedCall,
  all: Operations,
  context: PrepareContext,
): Promise<PreparedCall<WriteContext>> {
  const { name, operation, handler, input } = call;
  const steps = outwardStepsOf(handler);
  if (steps) {
    return prepareOutward(call, steps, all);
  }
  const effect = await prepareHandler({ name, handler, ...context, context }, input);
  const version = createVersion(call, all);
  return {
    async plan(writing) {
      await rehearse(writing, effect);
      const described = (await describeCall(handler, input, writing)) ?? { summary: operation.title };
      return { ...nothing, ...described, frozen: await version.read(writing) };
    },
    async run(writing, { frozen }) {
      await version.require(writing, frozen);
      return effect(writing);
    },
  };
}

/** Of a call to a third party, the first step is rehearsed. Nothing is called. */
function prepareOutward(
  call: DerivedCall,
  steps: AnyOutwardHandler,
  all: Operations,
): PreparedCall<WriteContext> {
  const { operation, input } = call;
  const version = createVersion(call, all);
  const describe = async (writing: WriteContext) => ({
    price: null,
    ...((await steps.describe?.(input, writing)) ?? { summary: operation.title }),
  });
  return {
    async plan(writing) {
      await rehearse(writing, (rehearsed) => steps.begin(input, rehearsed));
      return { ...nothing, ...(await describe(writing)), frozen: await version.read(writing) };
    },
    async run(writing, { frozen, price }) {
      await version.require(writing, frozen);
      const { price: present } = await describe(writing);
      if (present?.amount !== price?.amount || present?.currency !== price?.currency) {
        throw fail("plan_changed", { reason: "the price is another" });
      }
      return steps.begin(input, writing);
    },
  };
}

function createVersion({ operation, input }: DerivedCall, all: Operations) {
  const reader = findReader(operation, all);
  return {
    read: (writing: WriteContext) => readVersion(reader, input, writing),
    /** @throws Failure `plan_changed`. */
    async require(writing: WriteContext, frozen: unknown): Promise<void> {
      if ((await readVersion(reader, input, writing)) !== frozen) {
        throw fail("plan_changed", { reason: "what it changes was changed meanwhile" });
      }
    },
  };
}

/** The operation that reads what the path names: `GET /v1/contacts/{id}` of `POST /v1/contacts/{id}/tags`. */
function findReader({ path, method }: Operation, all: Operations) {
  const thing = path.includes("{") ? path.slice(0, path.indexOf("}") + 1) : path;
  return [...all].find(
    ([, { operation }]) =>
      operation.effect === "read" &&
      operation.method === "GET" &&
      (operation.path === path || operation.path === thing) &&
      method !== "GET" &&
      !(operation.output.shape.data instanceof z.ZodArray),
  );
}

/** Null if nothing has a version: the call creates something. */
async function readVersion(
  reader: [string, BoundOperation] | undefined,
  input: unknown,
  context: WriteContext,
): Promise<string | null> {
  if (!reader) {
    return null;
  }
  const [name, { operation, handler }] = reader;
  const fields = pathFields(operation.path);
  const sent = input as Readonly<Record<string, unknown>>; // the schemas of inputs are object schemas
  const asked = parseInput(operation, Object.fromEntries(fields.map((field) => [field, sent[field]])));
  const read = await prepareHandler({ name, handler, caller: context.caller, context }, asked);
  try {
    const { data } = operation.output.parse(await read({ ...context, variant: undefined }));
    return versionOf(data);
  } catch (error) {
    // Settings that do not exist yet. A record that does not exist is the error of the call itself.
    if (error instanceof Failure && fields.length === 0) {
      return error.code;
    }
    throw error;
  }
}

function versionOf(data: unknown): string {
  const { updated_at } = data as { readonly updated_at?: unknown }; // `one` of an object
  return typeof updated_at === "string"
    ? updated_at
    : createHash("sha256").update(JSON.stringify(data, withoutLinks)).digest("base64url");
}

/** Links to files are signed anew by each reading. */
function withoutLinks(_: string, value: unknown): unknown {
  return typeof value === "string" && /^https?:/.test(value) ? undefined : value;
}
