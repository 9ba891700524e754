/**
 * The words by which `stop-request.ts` recognizes a plea such as "please stop", and those that negate a stop phrase.
 *
 * In the notation of `stop-phrases.ts`, and in the languages of `consent-words.ts`.
 */

/** A clause of nothing but these and fillers is a request. */
export const stopVerbs: readonly string[] = [
  ...["stop", "stop sending", "pare", "paren", "parem", "arrêtez", "arrête", "cessez", "smettete"],
  ...["smettetela", "dejen/deja/deje de enviarme/mandarme", "pare/parem de mandar/enviar"],
  ...["pare/parem de me mandar/enviar", "arrêtez/arrête de m'envoyer", "hören sie auf"],
  ...["hören sie bitte auf", "hört auf", "hör auf", "smettila", "stopp", "sluta", "slutt", "hold op"],
  ...["stop met sturen", "przestań", "przestańcie", "прекратите", "перестаньте", "припиніть", "durdurun"],
  ...["توقف", "توقفوا", "תפסיקו", "תפסיק", "הפסיקו", "बंद करो", "बंद करें", "berhenti", "dừng lại"],
  ...["ngừng lại", "退订", "退訂", "别发了", "別發了", "别再发了", "別再發了", "不要再发了"],
  ...["不要再發了", "やめて", "止めて", "수신거부", "그만"],
];

export const fillers: readonly string[] = [
  ...["please", "pls", "plz", "now", "right now", "immediately", "already", "just", "thanks"],
  ...["thank you", "hi", "hello", "hey", "this", "that", "these", "those", "it", "them", "stuff", "me"],
  ...["us", "to me", "anymore", "can you", "could you", "would you", "will you", "how do i", "how can i"],
  ...["i want you to", "i said", "por favor", "porfavor", "ya", "ahora", "gracias", "hola", "esto"],
  ...["estos", "estas", "eso", "já", "agora", "obrigado", "obrigada", "olá", "com isso", "isso", "disso"],
  ...["s'il vous plaît", "s'il te plaît", "svp", "stp", "merci", "bonjour", "ça", "tout de suite"],
  ...["bitte", "danke", "jetzt", "sofort", "damit", "per favore", "grazie", "subito", "adesso", "ciao"],
  ...["alstublieft", "alsjeblieft", "aub", "bedankt", "nu", "hiermee", "tack", "snälla", "takk", "tak"],
  ...["proszę", "dziękuję", "już", "пожалуйста", "спасибо", "будь ласка", "дякую", "lütfen", "artık"],
  ...["من فضلك", "لو سمحت", "شكرا", "בבקשה", "תודה", "कृपया", "प्लीज", "इसे", "tolong", "mohon"],
  ...["terima kasih", "làm ơn", "xin", "cảm ơn", "请", "請", "谢谢", "謝謝", "我要", "我想", "ください"],
  ...["下さい", "お願いします", "제발", "하세요", "해주세요", "합니다", "부탁드립니다", "감사합니다"],
];

/** Those of all languages: what negates in one rarely stands there in another. */
export const negations: readonly string[] = [
  ...["dont", "not", "never", "didnt", "without", "no", "não", "nunca", "pas", "jamais", "nicht", "nie"],
  ...["non", "mai", "niet", "inte", "aldrig", "ikke", "aldri", "не", "لا", "لم", "لن", "לא", "אל", "मत"],
  ...["न", "नहीं", "jangan", "tidak", "gak", "nggak", "không", "不", "别", "別", "没", "沒"],
];

/** What may stand between a negation and the phrase: "I do not want to unsubscribe". */
export const linkingWords: readonly string[] = [
  ...["want", "wish", "like", "need", "plan", "going", "ever", "to", "you to", "them to", "the", "your"],
  ...["these", "my", "quiero", "queremos", "deseo", "que", "me", "se", "quero", "vou", "veux"],
  ...["souhaite", "de", "vous", "voglio", "mi", "che", "wil", "te", "vill", "vil", "chcę", "się", "хочу"],
  ...["хотим", "нужно", "أريد", "רוצה", "mau", "ingin", "muốn", "想", "要", "会", "會"],
];
