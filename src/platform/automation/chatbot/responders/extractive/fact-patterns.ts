/**
 * Patterns of facts in sentences: amounts of money, times, durations, measures. The patterns match lower
 * case.
 */

/** Matches if any of the patterns matches. */
export function anyOf(...patterns: readonly RegExp[]): RegExp {
  return new RegExp(`(?:${patterns.map(({ source }) => source).join("|")})`);
}

/** Matches any of the words. A word may be a pattern without spaces. */
function oneOf(words: string): RegExp {
  return new RegExp(`(?:${words.split(" ").join("|")})`);
}

/** A pattern that contains other patterns. */
export function pattern(texts: TemplateStringsArray, ...parts: readonly RegExp[]): RegExp {
  const sources = parts.map(({ source }) => source);
  return new RegExp(String.raw(texts, ...sources));
}

export const numberPattern = anyOf(
  /\d+(?:[.,:]\d+)*/,
  oneOf(
    "half one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen eighteen twenty " +
      "thirty forty fifty sixty ninety hundred thousand million an? each per",
  ),
);

const currencyCode = oneOf(
  "eur usd gbp chf inr jpy cny aud cad nzd zar brl mxn sek nok dkk pln czk huf try aed",
);
const currencyName = oneOf(
  "crowns? euros? dollars? pounds? francs? cents? pence rupees? yen kronor kroner kr pesos? reais rand zloty lira dirhams? yuan",
);

/** A percentage counts as an amount: "a fee of two percent". */
export const moneyPattern = anyOf(
  // € 20, 20 €
  /[$€£¥₹]\s?\d/,
  /\d\s?[$€£¥₹%]/,
  // 20 euros, twenty euros, 20 EUR
  pattern`\b(?:\d[\d.,]*|[a-z]+)\s${anyOf(currencyName, currencyCode, /per\s?cent/)}\b`,
  // EUR 20, Rs. 20
  pattern`\b${anyOf(currencyCode, /rs|kr/)}\.?\s?\d`,
  /\bfree\b/,
  /\bno (?:charge|fee|cost)/,
  /\bwithout (?:a |any )?(?:charge|fee)/,
  /\bhalf\b/,
  /\bpay nothing\b/,
  /\bnot charge/,
);

const monthName = oneOf("january february march april june july august september october november december");
const partOfYearOrDay = oneOf(
  "noon midnight daily weekdays? weekends? holidays? mornings? evenings? afternoons? nights? spring summer autumn winter dawn dusk",
);

export const timePattern = anyOf(
  /\b(?:mon|tues|wednes|thurs|fri|satur|sun)days?\b/,
  pattern`\b${monthName}\b`,
  // The month, not the verb.
  /\b(?:in|of|until|from|to|by|since|\d{1,2}(?:st|nd|rd|th)?) may\b/,
  /\bmay \d/,
  // 9:30, 9 am
  /\b\d{1,2}[:.]\d{2}\b/,
  /\b\d{1,2}\s?(?:am|pm|a\.m|p\.m|o'clock)/,
  pattern`\b${partOfYearOrDay}\b`,
  /\bevery day\b/,
  /\b\d{4}-\d{2}-\d{2}\b/,
  // the first of, the 3rd of
  /\b(?:first|second|third|fourth|fifth|last|\d+(?:st|nd|rd|th)) of\b/,
);

const unitOfTime = oneOf(
  "seconds? minutes? mins? hours? days? weeks? months? years? fortnight weekends? quarters? terms? seasons? nights?",
);

export const durationPattern = anyOf(
  // two days, 3 working days, two-week
  pattern`\b${numberPattern}[\s-](?:[a-z]+[\s-])?${unitOfTime}\b`,
  /\b(?:immediately|overnight|at once|same day|indefinitely|unlimited|lifetime)\b/,
);

export const lengthPattern = measure(
  "mm cm m km met(?:er|re)s? kilomet(?:er|re)s? centimet(?:er|re)s? feet ft inch(?:es)? miles?",
);
export const weightPattern = measure("g kg grams? kilos? kilograms? tonnes? tons? lbs? pounds?");

function measure(units: string): RegExp {
  return pattern`\d\s?${oneOf(units)}(?![a-z])`;
}

export const phoneNumberPattern = /\+?\d[\d\s/-]{4,}\d/;
export const mailAddressPattern = /\S@\S/;
