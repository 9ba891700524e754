/** The schema of a text that the simulator's controls take. */
import { z } from "zod";

/** A string that PostgreSQL can store as JSON: no NUL, no lone surrogate. */
export function textField(length: number) {
  const message = `Send a text of 1 to ${length} characters.`;
  return z
    .string(message)
    .min(1, message)
    .max(length, message)
    .refine(
      (value) => !value.includes("\0") && !/\p{Surrogate}/u.test(value),
      "Holds a character that is not text.",
    );
}
