/** Phone numbers and user ids as the simulator's controls take them. */
import { z } from "zod";

/** `+` and digits, or the digits alone; gives E.164. Takes what a path makes of the `+` too: `%2B` when it is encoded twice, a space when it is taken for a form's. */
export const phoneNumber = z.string().transform((value, context) => {
  const digits = /^\+?([1-9]\d{6,14})$/.exec(value.trim().replace(/^%2b/i, "+"))?.[1];
  if (digits === undefined) {
    context.addIssue({
      code: "custom",
      message: `${value} is not a phone number. Send the country code and the number, digits only, for example +14155550123.`,
    });
    return z.NEVER;
  }
  return `+${digits}`;
});

/** The id of a person who hides the number, in WhatsApp's form. */
export const channelUserId = z
  .string()
  .trim()
  .regex(/^[A-Z]{2}\.(?:ENT\.)?[A-Za-z0-9]{1,128}$/, "Send an id like US.13491208655302741918.");

/** By what a phone is found: its number or, where that is hidden, its owner's id. */
export const phoneIdentifier = z.union(
  [channelUserId, phoneNumber],
  "Send a phone number with its country code, for example +14155550123, or a user id.",
);
