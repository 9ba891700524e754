/**
 * A customer edits or deletes an earlier message: what the phone shows then, and what the webhook reports.
 */
import { z } from "zod";
import type { Customer } from "../state/customers.ts";
import type { InboundRecord } from "../state/messages.ts";
import type { World } from "../world.ts";
import { type Content, message } from "./content.ts";
import { ControlError } from "./input.ts";

const message_id = z.string().min(1).max(256);

export const changeFields = {
  /** The new text, or the new caption of a file. */
  edit: z.strictObject({ message_id, text: z.string().min(1).max(65_536) }).optional(),
  revoke: z.strictObject({ message_id }).optional(),
};

type ChangeInput = z.output<z.ZodObject<typeof changeFields>>;

/** Undefined unless the customer edits or deletes. @throws ControlError */
export function applyChange(
  world: World,
  customer: Customer,
  { edit, revoke }: ChangeInput,
): Content | undefined {
  const { inbound } = world.store;
  if (edit) {
    const original = requireOwn(world, customer, edit.message_id);
    const edited = withText(original, edit.text);
    inbound.set(original.id, { ...original, body: { ...original.body, ...edited } });
    return {
      body: message("edit", {
        original_message_id: original.id,
        message: { context: { id: original.id }, ...edited },
      }),
    };
  }
  if (revoke) {
    const { id: original_message_id } = requireOwn(world, customer, revoke.message_id);
    inbound.delete(original_message_id);
    return { body: message("revoke", { original_message_id }) };
  }
  return undefined;
}

function requireOwn({ store }: World, { user_id }: Customer, id: string): InboundRecord {
  const own = store.inbound.get(id);
  if (own?.user_id !== user_id) {
    throw new ControlError(`The customer has written no message with the id ${id}.`, 404);
  }
  return own;
}

const captioned = ["image", "video", "document"];

function withText({ type, body }: InboundRecord, text: string): { readonly type: string } {
  if (type === "text") {
    return message("text", { body: text });
  }
  if (!captioned.includes(type)) {
    throw new ControlError(`A message of type ${type} has no text to edit.`);
  }
  return message(type, { ...Object(body[type]), caption: text });
}
