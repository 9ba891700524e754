/**
 * Splits English text into words and finds their base forms.
 *
 * Changing anything here changes vectors: raise the version of the model in `index.ts`.
 */

import stopWordList from "./stop-words.json" with { type: "json" };

export interface Token {
  readonly text: string;
  readonly isStopWord: boolean;
}

/**
 * Lower-case words without accents. A code such as `AB-1234` is one word, and each of its parts is a word as
 * well.
 */
export function readTokens(text: string): Token[] {
  const plain = text.normalize("NFKD").replace(/\p{M}/gu, "").replace(/[’‘]/g, "'").toLowerCase();
  const words = plain.match(/[\p{L}\p{N}]+(?:['._/-][\p{L}\p{N}]+)*/gu) ?? [];
  return words.flatMap(splitWord).map((word) => ({ text: word, isStopWord: stopWords.has(word) }));
}

function splitWord(word: string): string[] {
  const bare = word.replace(/'(?:s|re|ve|ll|d|m)$/, "").replace(/n't$/, "");
  const joined = synonyms.get(bare);
  if (joined !== undefined) {
    return joined.split(" ");
  }
  const parts = bare.split(/['._/-]/).filter((part) => part !== "");
  const isCode = parts.length > 1 && /\p{N}/u.test(bare);
  return isCode ? [bare, ...parts.filter((part) => part.length > 1)] : parts;
}

/** The possible base forms of a word, likely forms first, without the word itself. */
export function baseForms(word: string): readonly string[] {
  const irregular = irregularForms.get(word);
  return irregular === undefined
    ? endings.flatMap(([ending, toForms]) => detach(word, ending, toForms))
    : [irregular];
}

function detach(
  word: string,
  ending: string,
  toForms: (stem: string) => readonly string[],
): readonly string[] {
  const stem = word.slice(0, -ending.length);
  return word.endsWith(ending) && stem.length >= 2 && /[aeiouy]/.test(stem) ? toForms(stem) : [];
}

/** Regular endings. */
const endings: readonly (readonly [ending: string, toForms: (stem: string) => readonly string[]])[] = [
  ["ies", (stem) => [`${stem}y`, `${stem}ie`]],
  ["ied", (stem) => [`${stem}y`, `${stem}ie`]],
  ["ying", (stem) => [`${stem}y`, `${stem}ie`]],
  ["es", (stem) => [`${stem}e`, stem]],
  ["s", (stem) => (stem.endsWith("s") ? [] : [stem])],
  ["ing", toVerbs],
  ["ed", toVerbs],
];

/**
 * Removes the doubled letter of "stopped". The doubled letter of "called" is removed only if the other forms
 * are no words, as for "cancelled".
 */
function toVerbs(stem: string): string[] {
  const single = /([bdglmnprt])\1$/.test(stem) ? [stem.slice(0, -1)] : [];
  return stem.endsWith("ll") ? [`${stem}e`, stem, ...single] : [...single, `${stem}e`, stem];
}

const irregularForms: ReadonlyMap<string, string> = new Map(
  Object.entries({
    be: "was were been being",
    become: "became",
    begin: "began begun",
    break: "broke broken",
    bring: "brought",
    build: "built",
    buy: "bought",
    catch: "caught",
    child: "children",
    choose: "chose chosen",
    come: "came",
    cost: "costs",
    criterion: "criteria",
    deal: "dealt",
    do: "did done",
    draw: "drew drawn",
    drive: "drove driven",
    eat: "ate eaten",
    fall: "fell fallen",
    feel: "felt",
    find: "found",
    fly: "flew flown",
    foot: "feet",
    forget: "forgot forgotten",
    freeze: "froze frozen",
    get: "got gotten",
    give: "gave given",
    go: "went gone",
    grow: "grew grown",
    hear: "heard",
    hide: "hid hidden",
    hold: "held",
    index: "indices",
    keep: "kept",
    know: "knew known",
    leave: "left",
    lend: "lent",
    lose: "lost",
    make: "made",
    man: "men",
    mean: "meant",
    meet: "met",
    pay: "paid",
    person: "people persons",
    ring: "rang rung",
    run: "ran running",
    say: "said",
    see: "saw seen",
    sell: "sold",
    send: "sent",
    speak: "spoke spoken",
    spend: "spent",
    stand: "stood",
    steal: "stole stolen",
    take: "took taken",
    teach: "taught",
    tell: "told",
    think: "thought",
    throw: "threw thrown",
    understand: "understood",
    wake: "woke woken",
    wear: "wore worn",
    win: "won",
    withdraw: "withdrew withdrawn",
    woman: "women",
    write: "wrote written",
  }).flatMap(([base, forms]) => forms.split(" ").map((form) => [form, base] as const)),
);

/** Words that are missing in WordNet, or written there as two words. */
const synonyms: ReadonlyMap<string, string> = new Map(
  Object.entries({
    app: "application",
    apps: "applications",
    "e-mail": "email",
    "e-mails": "emails",
    login: "log in",
    logout: "log out",
    signup: "sign up",
    "sign-up": "sign up",
    "log-in": "log in",
    "top-up": "top up",
    username: "user name",
    usernames: "user names",
    smartphone: "mobile phone",
    smartphones: "mobile phones",
    "wi-fi": "wireless network",
    wifi: "wireless network",
  }),
);

/** Words that are unrelated to the subject of a text. */
const stopWords: ReadonlySet<string> = new Set(stopWordList);
