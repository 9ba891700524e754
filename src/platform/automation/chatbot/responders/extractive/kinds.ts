/**
 * The kind of fact that a question asks for, by its English words: an amount of money, a time, a number and
 * so on. A sentence without such a fact does not answer the question. If the kind is not known, or the
 * question is in another language, any sentence may answer.
 */
import {
  anyOf,
  durationPattern,
  lengthPattern,
  mailAddressPattern,
  moneyPattern,
  numberPattern,
  pattern,
  phoneNumberPattern,
  timePattern,
  weightPattern,
} from "./fact-patterns.ts";

export interface FactKind {
  /** Whether a sentence has a fact of this kind. */
  has(sentence: string): boolean;
  /** Words of the question that ask for this kind of fact and are not the question's subject. */
  readonly asking: ReadonlySet<string>;
}

interface KindRule {
  /** Matches the questions that ask for the fact, in lower case. */
  readonly question: RegExp;
  /** Matches the sentences that have the fact. */
  readonly fact: RegExp;
  readonly asking: string;
  /** Whether the pattern of the fact is case-sensitive. */
  readonly isCased?: true;
}

/** The first rule that matches a question gives its kind. */
const rules: readonly KindRule[] = [
  {
    // What is your phone number?
    question: anyOf(/\b(?:phone|telephone|mobile|hotline) number\b/, /\bwhat number\b.*\bcall\b/),
    fact: phoneNumberPattern,
    asking: "number call",
  },
  {
    // What is your email address?
    question: /\be-?mail address\b/,
    fact: mailAddressPattern,
    asking: "address",
  },
  {
    // How long does it take?
    question: anyOf(
      /\bhow (?:long|quick|quickly|fast|soon)\b/,
      /\bhow much (?:time|notice)\b/,
      /\b(?:period|duration)\b/,
    ),
    fact: anyOf(durationPattern, timePattern),
    asking: "long quick quickly fast soon time take takes last period duration",
  },
  {
    // How much is it? What is the price of it? But not: How much does it weigh?
    question: anyOf(
      /\bhow (?:much|expensive)\b(?!.*\b(?:weigh|fit|hold|carry|luggage|water)\b)/,
      /\b(?:what|which)\b.*\b(?:costs?|prices?|fees?|fares?|charges?|charged?|pay|owe|fines?|rent|rates?|deposits?)\b/,
      /^(?:the )?(?:price|cost|fee)s?\b/,
    ),
    fact: moneyPattern,
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
    fact: lengthPattern,
    asking: "",
  },
  {
    // How heavy is it?
    question: anyOf(/\bhow heavy\b/, /\bweigh/),
    fact: weightPattern,
    asking: "",
  },
  {
    // How many are there?
    question: anyOf(/\bhow (?:many|old|large|big|often)\b/, /\bwhat (?:age|size)\b/),
    fact: anyOf(pattern`\b${numberPattern}\b`, /\b(?:every|daily|weekly|monthly|yearly|unlimited)\b/),
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
      timePattern,
      // two days before, within two days
      pattern`${durationPattern}.{0,15}\b(?:before|after|later)\b`,
      pattern`\b(?:within|after|in|every)\b.{0,15}${durationPattern}`,
    ),
    asking: "time date day late take place",
  },
  {
    // Who is it? A name, a role or a way to reach somebody.
    question: anyOf(/^who\b/, /[,;.?!] who\b/),
    fact: anyOf(
      /\b(?:Mr|Mrs|Ms|Dr)\b/,
      /[a-z,] [A-Z][a-z]+ [A-Z][a-z]+/,
      phoneNumberPattern,
      mailAddressPattern,
    ),
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

/** Returns undefined if the question is of no known kind. */
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
