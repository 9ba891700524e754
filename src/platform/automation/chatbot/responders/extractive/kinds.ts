/**
 * What kind of fact a question asks for, by its English words: an amount of money, a time, a number and so on. A sentence that
 * has no such fact does not answer it. A question of no known kind, or in another language, is answered by any sentence.
 */
import {
  anyOf,
  duration,
  length,
  mailAddress,
  money,
  number,
  pattern,
  phoneNumber,
  time,
  weight,
} from "./fact-patterns.ts";

export interface FactKind {
  /** Whether a sentence has such a fact. */
  has(sentence: string): boolean;
  /** Words of the question that ask for it, and are not its subject. */
  readonly asking: ReadonlySet<string>;
}

interface KindRule {
  /** Matches the questions that ask for the fact, in small letters. */
  readonly question: RegExp;
  /** Matches the sentences that have it. */
  readonly fact: RegExp;
  readonly asking: string;
  /** Whether capital letters count in the fact. */
  readonly isCased?: true;
}

/** The first rule that a question matches gives the kind of the question. */
const rules: readonly KindRule[] = [
  {
    // What is your phone number?
    question: anyOf(/\b(?:phone|telephone|mobile|hotline) number\b/, /\bwhat number\b.*\bcall\b/),
    fact: phoneNumber,
    asking: "number call",
  },
  {
    // What is your email address?
    question: /\be-?mail address\b/,
    fact: mailAddress,
    asking: "address",
  },
  {
    // How long does it take?
    question: anyOf(
      /\bhow (?:long|quick|quickly|fast|soon)\b/,
      /\bhow much (?:time|notice)\b/,
      /\b(?:period|duration)\b/,
    ),
    fact: anyOf(duration, time),
    asking: "long quick quickly fast soon time take takes last period duration",
  },
  {
    // How much is it? What is the price of it? But not: How much does it weigh?
    question: anyOf(
      /\bhow (?:much|expensive)\b(?!.*\b(?:weigh|fit|hold|carry|luggage|water)\b)/,
      /\b(?:what|which)\b.*\b(?:costs?|prices?|fees?|fares?|charges?|charged?|pay|owe|fines?|rent|rates?|deposits?)\b/,
      /^(?:the )?(?:price|cost|fee)s?\b/,
    ),
    fact: money,
    asking:
      "much expensive cost costs price prices fee fees fare charge charges charged pay owe amount total",
  },
  {
    // How warm is it?
    question: anyOf(/\bhow (?:warm|hot|cold)\b/, /\btemperature\b/),
    fact: /\d\s?(?:°|degrees)/,
    asking: "",
  },
  {
    // How deep is it?
    question: /\bhow (?:deep|high|tall|wide|far)\b/,
    fact: length,
    asking: "",
  },
  {
    // How heavy is it?
    question: anyOf(/\bhow heavy\b/, /\bweigh/),
    fact: weight,
    asking: "",
  },
  {
    // How many are there?
    question: anyOf(/\bhow (?:many|old|large|big|often)\b/, /\bwhat (?:age|size)\b/),
    fact: anyOf(pattern`\b${number}\b`, /\b(?:every|daily|weekly|monthly|yearly|unlimited)\b/),
    asking: "many number age old",
  },
  {
    // When is it? At what time?
    question: anyOf(
      /^(?:\w+ )?when\b/,
      /[,;.?!] when\b/,
      /\b(?:since|from) when\b/,
      /\b(?:what|which) (?:time|day|date|hours?)\b/,
      /\b(?:how late|until when|opening hours|opening times)\b/,
    ),
    fact: anyOf(
      time,
      // two days before, within two days
      pattern`${duration}.{0,15}\b(?:before|after|later)\b`,
      pattern`\b(?:within|after|in|every)\b.{0,15}${duration}`,
    ),
    asking: "time date day late take place",
  },
  {
    // Who is it? A name, a role or a way to reach somebody.
    question: anyOf(/^who\b/, /[,;.?!] who\b/),
    fact: anyOf(/\b(?:Mr|Mrs|Ms|Dr)\b/, /[a-z,] [A-Z][a-z]+ [A-Z][a-z]+/, phoneNumber, mailAddress),
    asking: "call contact",
    isCased: true,
  },
  {
    // Where is it?
    question: anyOf(/^where\b/, /[,;.?!] where\b/),
    fact: anyOf(
      /\b(?:in|at|on|opposite|next to|behind|near|from|under|by|to|between|outside|inside|upstairs|downstairs|floor|room)\b/,
      // High Street 5
      /[A-Z][a-z]+ \d/,
    ),
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
