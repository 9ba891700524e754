/** Removes accents and case from text, for comparisons. */
import { limitMarks } from "./limit-marks.ts";

/** "López" becomes "lopez", "Łukasz" becomes "lukasz". */
export function removeAccents(text: string): string {
  const withoutMarks = limitMarks(text).normalize("NFKD").replace(marks, "").toLowerCase();
  return withoutMarks.replace(/[łøđßæœı]/g, (letter) => plain[letter] ?? letter);
}

/**
 * Accents, and Hebrew and Arabic vowel points. Other marks stay, because in other scripts they are letters.
 */
const marks = /[\u0300-\u036f\u0591-\u05c7\u064b-\u065f]/g;

/** Letters that Unicode does not decompose, with the letters that people type instead. */
const plain: Readonly<Record<string, string>> = { ł: "l", ø: "o", đ: "d", ß: "ss", æ: "ae", œ: "oe", ı: "i" };
