/**
 * What kind of fact a question asks for, by its English words: an amount of money, a time, a number and so on. A sentence that
 * has no such fact does not answer it. A question of no known kind, or in another language, is answered by any sentence.
 */

export interface FactKind {
  /** Whether a sentence has such a fact. */
  has(sentence: string): boolean;
  /** Words of the question that ask for it, and are not its subject. */
  readonly asking: ReadonlySet<string>;
}

interface KindRule {
  readonly question: RegExp;
  readonly fact: RegExp;
  readonly asking: string;
  /** Whether capital letters count in the fact. */
  readonly isCased?: true;
}

const number =
  "(?:\\d+(?:[.,:]\\d+)*|half|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|thirteen|fourteen|fifteen|sixteen|eighteen|twenty|thirty|forty|fifty|sixty|ninety|hundred|thousand|million|an?|each|per)";
const money =
  "(?:[$€£¥₹]\\s?\\d|\\d\\s?[$€£¥₹%]|\\b(?:\\d[\\d.,]*|[a-z]+)\\s(?:crowns?|euros?|dollars?|pounds?|francs?|cents?|pence|rupees?|yen|kronor|kroner|kr|pesos?|reais|rand|zloty|lira|dirhams?|yuan|eur|usd|gbp|chf|inr|jpy|cny|aud|cad|nzd|zar|brl|mxn|sek|nok|dkk|pln|czk|huf|try|aed|per\\s?cent|percent)\\b|\\b(?:eur|usd|gbp|chf|inr|jpy|cny|aud|cad|nzd|zar|brl|mxn|sek|nok|dkk|pln|czk|huf|try|aed|rs|kr)\\.?\\s?\\d|\\bfree\\b|\\bno (?:charge|fee|cost)|\\bwithout (?:a |any )?(?:charge|fee)|\\bhalf\\b|\\bpay nothing\\b|\\bnot charge)";
const units =
  "(?:seconds?|minutes?|mins?|hours?|days?|weeks?|months?|years?|fortnight|weekends?|quarters?|terms?|seasons?|nights?)";
const dates =
  "\\b(?:mon|tues|wednes|thurs|fri|satur|sun)days?\\b|\\b(?:january|february|march|april|june|july|august|september|october|november|december)\\b|\\b\\d{1,2}[:.]\\d{2}\\b|\\b\\d{1,2}\\s?(?:am|pm|a\\.m|p\\.m|o'clock)|\\b(?:in|of|until|from|to|by|since|\\d{1,2}(?:st|nd|rd|th)?) may\\b|\\bmay \\d|\\b(?:noon|midnight|daily|weekdays?|weekends?|holidays?|every day|mornings?|evenings?|afternoons?|nights?|spring|summer|autumn|winter|dawn|dusk)\\b|\\b\\d{4}-\\d{2}-\\d{2}\\b|\\b(?:first|second|third|fourth|fifth|last|\\d+(?:st|nd|rd|th)) of\\b";
const duration = `\\b${number}[\\s-](?:[a-z]+[\\s-])?${units}\\b|\\b(?:immediately|overnight|at once|same day|indefinitely|unlimited|lifetime)\\b`;
const measure = (unit: string) => `\\d\\s?(?:${unit})(?![a-z])`;

const contact = "\\+?\\d[\\d\\s/-]{4,}\\d|\\S@\\S";

/** The first whose question matches. */
const rules: readonly KindRule[] = [
  {
    question: /\b(?:phone|telephone|mobile|hotline) number\b|\bwhat number\b.*\bcall\b/,
    fact: /\+?\d[\d\s/-]{4,}\d/,
    asking: "number call",
  },
  { question: /\be-?mail address\b/, fact: /\S@\S/, asking: "address" },
  {
    question: /\bhow (?:long|quick|quickly|fast|soon)\b|\bhow much (?:time|notice)\b|\b(?:period|duration)\b/,
    fact: new RegExp(`${duration}|${dates}`),
    asking: "long quick quickly fast soon time take takes last period duration",
  },
  {
    question:
      /\bhow (?:much|expensive)\b(?!.*\b(?:weigh|fit|hold|carry|luggage|water)\b)|\b(?:what|which)\b.*\b(?:costs?|prices?|fees?|fares?|charges?|charged?|pay|owe|fines?|rent|rates?|deposits?)\b|^(?:the )?(?:price|cost|fee)s?\b/,
    fact: new RegExp(money),
    asking:
      "much expensive cost costs price prices fee fees fare charge charges charged pay owe amount total",
  },
  { question: /\bhow (?:warm|hot|cold)\b|\btemperature\b/, fact: /\d\s?(?:°|degrees)/, asking: "" },
  {
    question: /\bhow (?:deep|high|tall|wide|far)\b/,
    fact: new RegExp(
      measure("mm|cm|m|km|met(?:er|re)s?|kilomet(?:er|re)s?|centimet(?:er|re)s?|feet|ft|inch(?:es)?|miles?"),
    ),
    asking: "",
  },
  {
    question: /\bhow heavy\b|\bweigh/,
    fact: new RegExp(measure("g|kg|grams?|kilos?|kilograms?|tonnes?|tons?|lbs?|pounds?")),
    asking: "",
  },
  {
    question: /\bhow (?:many|old|large|big|often)\b|\bwhat (?:age|size)\b/,
    fact: new RegExp(`\\b${number}\\b|\\b(?:every|daily|weekly|monthly|yearly|unlimited)\\b`),
    asking: "many number age old",
  },
  {
    question:
      /^(?:\w+ )?when\b|[,;.?!] when\b|\bsince when\b|\bfrom when\b|\b(?:what|which) (?:time|day|date|hours?)\b|\b(?:how late|until when|opening hours|opening times)\b/,
    fact: new RegExp(
      `${dates}|(?:${duration}).{0,15}\\b(?:before|after|later)\\b|\\b(?:within|after|in|every)\\b.{0,15}(?:${duration})`,
    ),
    asking: "time date day late take place",
  },
  {
    // A name, a role or a way to reach somebody.
    question: /^who\b|[,;.?!] who\b/,
    fact: new RegExp(`\\b(?:Mr|Mrs|Ms|Dr)\\b|[a-z,] [A-Z][a-z]+ [A-Z][a-z]+|${contact}`),
    asking: "call contact",
    isCased: true,
  },
  {
    question: /^where\b|[,;.?!] where\b/,
    fact: /\b(?:in|at|on|opposite|next to|behind|near|from|under|by|to|between|outside|inside|upstairs|downstairs|floor|room)\b|[A-Z][a-z]+ \d/,
    asking: "find located",
    isCased: true,
  },
];

/** Undefined: of no known kind. */
export function findKind(question: string): FactKind | undefined {
  const plain = question.toLowerCase();
  const rule = rules.find((each) => each.question.test(plain));
  return (
    rule && {
      has: (sentence) => rule.fact.test(rule.isCased ? sentence : sentence.toLowerCase()),
      asking: new Set(rule.asking.split(" ")),
    }
  );
}
