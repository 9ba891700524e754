/** The content of a customer's message, as a webhook has it. */
import type { Customer } from "../state/customers.ts";
import type { Phone } from "../state/store.ts";

export interface Content {
  readonly body: { readonly type: string };
  /** The message that had the chosen button. */
  readonly chosenFrom?: string;
}

export interface Conversation {
  readonly phone: Phone;
  readonly customer: Customer;
}

export function interactive(reply: object): Content {
  return { body: message("interactive", reply) };
}

/** The members of a message stand under the name of its type. */
export function message(type: string, content: unknown): { readonly type: string } {
  return { type, [type]: content };
}
