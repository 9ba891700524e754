/** A request to the controls, its input and its errors. */
import { z } from "zod";
import { type Customer, findCustomer } from "../state/customers.ts";
import { toDigits, userIdPattern } from "../state/ids.ts";
import { findNode, nodesOf, type Phone } from "../state/store.ts";
import type { World } from "../world.ts";

export interface ControlRequest {
  readonly world: World;
  /** The named parts of the path. */
  readonly params: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  readonly body: unknown;
}

export type ControlHandler = (request: ControlRequest) => object | Promise<object>;

/** An invalid request to the controls. */
export class ControlError extends Error {
  readonly status: number;

  constructor(message: string, status = 400) {
    super(message);
    this.status = status;
  }
}

/** @throws ControlError naming the first invalid field */
export function parse<Schema extends z.ZodType>(schema: Schema, input: unknown): z.output<Schema> {
  const parsed = schema.safeParse(input);
  if (parsed.success) {
    return parsed.data;
  }
  const [issue] = parsed.error.issues;
  const path = issue?.path.join(".") ?? "";
  throw new ControlError(`${path === "" ? "The body" : path}: ${issue?.message ?? "invalid"}`);
}

export const number = z.string().transform((value, context) => {
  const digits = toDigits(value);
  if (digits === undefined) {
    context.addIssue("This is no phone number, for example +14155550123.");
    return z.NEVER;
  }
  return digits;
});

export const userId = z
  .string()
  .regex(userIdPattern, "This is no user id, for example US.13491208655302741918.");

/** The number with this id, or the first one. @throws ControlError */
export function requirePhone({ store }: World, id: string | undefined): Phone {
  const phone = id === undefined ? nodesOf(store, "phone")[0] : findNode(store, "phone", id);
  if (!phone) {
    throw new ControlError(`There is no phone number with the id ${id}.`, 404);
  }
  return phone;
}

/** By number or user id. @throws ControlError */
export function requireCustomer({ store }: World, key: string): Customer {
  const customer = findCustomer(store, userIdPattern.test(key) ? key : (toDigits(key) ?? ""));
  if (!customer) {
    throw new ControlError(`No message was exchanged with ${key}.`, 404);
  }
  return customer;
}

const Limit = z.coerce.number().int().min(1).max(10_000).default(100);

export function readLimit(query: URLSearchParams): number {
  return parse(Limit, query.get("limit") ?? undefined);
}
