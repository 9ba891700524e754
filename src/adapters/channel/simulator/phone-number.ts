/** Phone numbers as the simulator's controls take them: `+` and digits, or the digits alone. */
import { z } from "zod";

/** Gives E.164. Takes what a path makes of the `+` too: `%2B` when it is encoded twice, a space when it is taken for a form's. */
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
