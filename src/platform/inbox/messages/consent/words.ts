/**
 * The default words by which a contact opts out of marketing and in again; an inbox may replace them.
 *
 * First the words that carriers and other senders support everywhere, then common ones of each language.
 * Words that are also ordinary replies, such as "basta" or "cancelar", are left out: an inbox may add them.
 */

export const stopWords: readonly string[] = [
  "stop",
  "stopall",
  "stop all",
  "unsubscribe",
  "cancel",
  "end",
  "quit",
  "revoke",
  "optout",
  "opt out",
  "baja",
  "dar de baja",
  "darme de baja",
  "desuscribir",
  "desuscribirme", // Spanish
  "parar",
  "sair",
  "descadastrar",
  "cancelar inscrição", // Portuguese
  "arrêt",
  "arrêter",
  "désabonner",
  "se désabonner",
  "désinscription", // French
  "stopp",
  "abmelden",
  "abbestellen",
  "austragen", // German
  "disiscrivimi",
  "disiscriviti",
  "annulla iscrizione", // Italian
  "afmelden",
  "uitschrijven", // Dutch
  "avregistrera",
  "avmeld",
  "afmeld", // Swedish, Norwegian, Danish
  "wypisz",
  "wypisz mnie",
  "rezygnuję", // Polish
  "стоп",
  "отписаться",
  "відписатися", // Russian, Ukrainian
  "durdur",
  "abonelikten çık", // Turkish
  "توقف",
  "إلغاء الاشتراك", // Arabic
  "הסר", // Hebrew
  "बंद करें",
  "रोकें", // Hindi
  "berhenti",
  "berhenti langganan", // Indonesian
  "hủy đăng ký", // Vietnamese
  "停止",
  "退订",
  "退訂",
  "取消订阅",
  "取消訂閱", // Chinese
  "配信停止", // Japanese
  "수신거부", // Korean
];

export const startWords: readonly string[] = [
  "start",
  "unstop",
  "subscribe",
  "optin",
  "opt in",
  "alta",
  "suscribir",
  "suscribirme", // Spanish
  "inscrever", // Portuguese
  "s'abonner",
  "abonner", // French
  "anmelden", // German
  "iscrivimi", // Italian
  "aanmelden", // Dutch
  "старт",
  "подписаться",
  "підписатися", // Russian, Ukrainian
  "اشتراك", // Arabic
  "mulai", // Indonesian
  "đăng ký", // Vietnamese
  "订阅",
  "訂閱", // Chinese
  "配信再開", // Japanese
  "수신동의", // Korean
];
