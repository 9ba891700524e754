/**
 * Answers a message that is only a greeting or thanks. Such a message asks nothing, so no search is run and
 * no model is called.
 */
import { removeAccents } from "../../../foundation/query/index.ts";

interface Language {
  /** Matches a message without accents, capital letters and punctuation. */
  readonly greeting: RegExp;
  readonly answer: string;
  readonly thanks: RegExp;
  readonly welcome: string;
}

/** The first language that matches answers. */
const languages: readonly Language[] = [
  {
    greeting:
      /^(?:(?:hi+|hello+|hey+|hiya|howdy|greetings|good (?:morning|afternoon|evening|day)) ?)+(?:there|team|all|everyone|everybody|guys|folks|sir|madam|again)?$/,
    answer: "Hello! How can I help you?",
    thanks: /^(?:ok )?(?:thanks|thank you|thx)(?: a lot| so much| very much| again)?$/,
    welcome: "You're welcome!",
  },
  {
    greeting: /^(?:(?:hallo|moin|servus|gruss gott|guten (?:morgen|tag|abend)) ?)+(?:zusammen)?$/,
    answer: "Hallo! Wie kann ich Ihnen helfen?",
    thanks: /^(?:ok )?(?:danke|vielen dank|danke schon|dankeschon)(?: sehr)?$/,
    welcome: "Gern geschehen!",
  },
  {
    greeting: /^(?:(?:hola|buenos dias|buen dia|buenas(?: tardes| noches)?) ?)+$/,
    answer: "¡Hola! ¿En qué puedo ayudarle?",
    thanks: /^(?:muchas |mil )?gracias$/,
    welcome: "¡De nada!",
  },
  {
    greeting: /^(?:(?:bonjour|bonsoir|salut|coucou) ?)+$/,
    answer: "Bonjour ! Comment puis-je vous aider ?",
    thanks: /^merci(?: beaucoup| bien)?$/,
    welcome: "Je vous en prie !",
  },
  {
    greeting: /^(?:(?:ola|oi|bom dia|boa (?:tarde|noite)) ?)+$/,
    answer: "Olá! Como posso ajudar?",
    thanks: /^(?:muito )?obrigad[oa]$/,
    welcome: "De nada!",
  },
  {
    greeting: /^(?:(?:ciao|salve|buongiorno|buonasera|buon pomeriggio) ?)+$/,
    answer: "Buongiorno! Come posso aiutarla?",
    thanks: /^(?:molte |tante )?grazie(?: mille)?$/,
    welcome: "Prego!",
  },
  {
    greeting: /^(?:(?:नमस्ते|नमस्कार|namaste|namaskar) ?)+(?:ji|जी)?$/,
    answer: "नमस्ते! मैं आपकी क्या मदद कर सकता हूँ?",
    thanks: /^(?:बहुत )?(?:धन्यवाद|शुक्रिया|dhanyavad|shukriya)$/,
    welcome: "आपका स्वागत है!",
  },
  {
    greeting: /^(?:(?:مرحبا|اهلا|السلام عليكم|صباح الخير|مساء الخير) ?)+$/,
    answer: "مرحبا! كيف يمكنني مساعدتك؟",
    thanks: /^(?:شكرا)(?: جزيلا)?$/,
    welcome: "على الرحب والسعة!",
  },
];

/** A longer message is more than a greeting. */
const maxLength = 60;

/** Returns undefined if the message says anything else. */
export function answerGreeting(message: string): string | undefined {
  const text = normalize(message);
  const language = languages.find(({ greeting }) => greeting.test(text));
  return language?.answer ?? languages.find(({ thanks }) => thanks.test(text))?.welcome;
}

function normalize(message: string): string {
  return message.length > maxLength
    ? ""
    : removeAccents(message)
        .replace(/[^\p{L}\p{M}\p{N}]+/gu, " ")
        .trim();
}
