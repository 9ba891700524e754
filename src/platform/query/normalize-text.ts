/** Text as it is compared: in small letters, without accents. */

/** "lopez" is López, and "lukasz" Łukasz. */
export function fold(text: string): string {
  const bare = text.normalize("NFKD").replace(marks, "").toLowerCase();
  return bare.replace(/[łøđßæœı]/g, (letter) => plain[letter] ?? letter);
}

/** Accents, and Hebrew and Arabic vowel points. Not every mark: in other scripts they are letters. */
const marks = /[\u0300-\u036f\u0591-\u05c7\u064b-\u065f]/g;

/** Letters that are no accented ones, as they are typed where the keyboard has none of them. */
const plain: Readonly<Record<string, string>> = { ł: "l", ø: "o", đ: "d", ß: "ss", æ: "ae", œ: "oe", ı: "i" };
