/**
 * What contacts write who want no more messages, in the languages of `consent-words.ts`; see `stop-request.ts`.
 *
 * `a/b` is either word, and `…` at most three words that are no negation. Case, accents and apostrophes do not matter.
 * Each character of Chinese, Japanese and Korean is a word. A phrase names the messages or the subscription: what may
 * be about an order instead, such as "abbestellen" or "退订", is left out.
 */

export const stopPhrases: readonly string[] = [
  // English
  ...["unsubscribe", "optout", "opt out", "opt me/us out", "leave me alone"],
  ...["stop messaging/texting/contacting/spamming/bothering", "stop writing me/us/to"],
  "stop … messages/texts/sms/spam/ads/advertising/promotions/promos/offers/marketing/newsletter/newsletters/notifications/reminders/updates",
  "stop sending … messages/texts/sms/spam/ads/promotions/promos/offers/newsletters/notifications/reminders/updates",
  "messages/texts/ads/spam/newsletters/notifications to stop",
  "no more messages/texts/sms/spam/ads/advertising/promotions/promos/marketing/newsletters/notifications/reminders",
  ...["dont message/text/contact/spam/bother me/us", "do not message/text/contact/spam/bother me/us"],
  ...["dont write me/us/to", "do not write me/us/to", "dont send … messages/texts/sms/spam/ads/offers"],
  "do not send … messages/texts/sms/spam/ads/offers",
  "dont want any/more/these/those/your … messages/texts/sms/spam/ads/offers",
  "do not want any/more/these/those/your … messages/texts/sms/spam/ads/offers",
  "dont want to get/receive … messages/texts/sms/ads",
  "do not want to get/receive … messages/texts/sms/ads",
  "remove/delete/take me from/off … list/database/messages",
  // Spanish
  ...["dame/denme/darme/darnos de baja", "me doy/den/da de baja"],
  ...["desuscribir/desuscribirme/desuscríbanme", "no más mensajes/publicidad/promociones/spam"],
  "no quiero/queremos más mensajes/publicidad/promociones/spam",
  "no quiero/deseo recibir … mensajes/publicidad/promociones/ofertas",
  ...["no me escriban/escribas/escriba más", "no me contacten/contactes/contacte más"],
  "no me manden/mandes/mande/envíen/envíes/envíe … mensajes/publicidad/promociones/ofertas/nada",
  "dejen/deja/deje/dejad/paren/pare de escribirme/molestarme/contactarme",
  "dejen/deja/deje/dejad/paren/pare de enviarme/mandarme … mensajes/publicidad/promociones/ofertas",
  // Portuguese
  ...["descadastrar/descadastre/descadastrem", "me tire/tira/tirem/remova/remove/removam da lista"],
  ...["sair da lista", "não quero mais mensagem/mensagens/propaganda/promoções/spam"],
  "não quero receber … mensagem/mensagens/propaganda/promoções/ofertas",
  "não quero mais receber … mensagem/mensagens/propaganda/promoções/ofertas/isso/nada",
  "não me mande/mandem/manda/envie/enviem … mensagem/mensagens/propaganda/promoções/ofertas/nada",
  ...["não me escreva/escrevam/escreve mais", "pare/parem/para de me escrever/incomodar/perturbar"],
  "pare/parem/para de … mandar/enviar … mensagem/mensagens/propaganda/promoções/ofertas",
  "chega de mensagem/mensagens/propaganda/promoções",
  // French
  ...["désabonner/désabonnez/désabonne/désabonnement", "désinscrire/désinscrivez/désinscription"],
  ...["plus aucun message/sms", "ne m'écrivez/m'écris plus", "ne me contactez/contacte plus"],
  "ne m'envoyez/m'envoie plus … message/messages/sms/pub/publicité/promotions/offres/rien",
  "arrêtez/arrête/arrêter/cessez … message/messages/sms/pub/publicité/spam/promotions",
  ...["arrêtez/arrête/cessez de m'écrire", "arrêtez/arrête/cessez de me contacter/harceler"],
  "ne veux/souhaite plus/pas recevoir … message/messages/sms/pub/publicité/promotions/offres",
  ...["ne veux plus de … message/messages/sms/pub/publicité", "retirez/enlevez moi de … liste"],
  // German
  ...["mich … abmelden/austragen", "melden sie mich … ab", "meldet mich … ab", "tragen sie mich … aus"],
  "newsletter/nachrichten/werbung abbestellen/abmelden",
  "keine … nachrichten/werbung/werbenachrichten/sms/newsletter mehr",
  ...["keine weiteren nachrichten/sms", "schreiben/schreibt/schreib … mir/uns … nicht mehr"],
  ...["schicken/schickt/schick/senden … nichts mehr", "hören/hört/hör … auf mir zu schreiben"],
  "lassen sie mich in ruhe",
  // Italian
  ...["disiscrivermi/disiscrivetemi/disiscrivimi", "cancellatemi/toglietemi/rimuovetemi dalla lista"],
  ...["basta messaggi/pubblicità/promozioni/spam", "niente più messaggi/pubblicità/promozioni"],
  "non voglio più … messaggi/pubblicità/promozioni",
  "non voglio ricevere … messaggi/pubblicità/promozioni",
  "non scrivetemi/scrivermi/contattatemi/contattarmi più",
  "non mandatemi/mandarmi/inviatemi/inviarmi più … messaggi/pubblicità/promozioni/nulla/niente",
  "smettete/smettetela/smetti/smettila di scrivermi/contattarmi/disturbarmi",
  "smettete/smettetela/smetti/smettila di mandarmi/inviarmi … messaggi/pubblicità/promozioni",
  // Dutch
  ...["schrijf me/mij uit", "uitschrijven", "meld me/mij af", "me/mij afmelden", "laat me/mij met rust"],
  ...["geen … berichten/reclame/sms meer", "stop met … berichten/reclame/sms", "stuur me/mij niets meer"],
  // Swedish
  ...["avregistrera mig", "avprenumerera", "inga fler/mer meddelanden/sms", "ingen mer reklam"],
  ...["sluta skicka … meddelanden/sms/reklam", "sluta skriva/smsa/kontakta"],
  ...["vill inte ha … meddelanden/sms/reklam", "ta bort mig från … lista/listan"],
  // Norwegian
  ...["avmeld meg", "meld meg av", "ingen/ikke flere meldinger/sms"],
  ...["vil ikke ha … meldinger/sms/reklame", "slutt/stopp å sende … meldinger/sms/reklame"],
  ...["slutt/stopp å skrive/kontakte", "fjern meg fra … liste/listen"],
  // Danish
  ...["afmeld mig", "meld mig fra", "ingen/ikke flere beskeder/sms"],
  ...["vil ikke have … beskeder/sms/reklamer", "stop/op med at sende … beskeder/sms/reklamer"],
  ...["stop/op med at skrive/kontakte", "fjern mig fra … liste/listen"],
  // Polish
  ...["wypisz/wypiszcie mnie", "mnie/się wypisać"],
  "rezygnuję z … wiadomości/smsów/subskrypcji/newslettera",
  "nie chcę więcej/otrzymywać/dostawać/żadnych/tych … wiadomości/smsów/reklam/ofert",
  ...["przestań/przestańcie … pisać", "przestań/przestańcie … wysyłać … wiadomości/smsy/smsów/reklamy"],
  ...["nie pisz/piszcie do mnie", "nie wysyłaj/wysyłajcie … wiadomości/smsów/reklam"],
  // Russian
  ...["отпишите/отпиши меня", "отписаться", "удалите/уберите меня из … списка/рассылки/базы"],
  ...["не пишите/пиши мне", "прекратите/отключите рассылку", "никаких … сообщений"],
  "не присылайте/присылай/шлите/отправляйте … сообщений/сообщения/рекламу/смс/рассылку",
  "хватит/прекратите/перестаньте/перестань … писать/спамить/беспокоить",
  "хватит/прекратите/перестаньте/перестань … слать/присылать/отправлять … сообщения/рекламу/спам/смс",
  "не хочу получать … сообщения/сообщений/рекламу/рассылку/смс",
  // Ukrainian
  ...["відпишіть/відпиши мене", "відписатися", "видаліть мене з … списку/розсилки/бази"],
  ...["не пишіть/пиши мені", "не надсилайте/присилайте … повідомлень/повідомлення/рекламу"],
  "припиніть/перестаньте … писати/спамити",
  "припиніть/перестаньте … надсилати/слати/присилати … повідомлення/рекламу",
  "не хочу отримувати … повідомлення/повідомлень/рекламу/розсилку",
  // Turkish
  ...["abonelikten çık/çıkarın/çıkar", "abonelikten çıkmak istiyorum", "listeden çıkarın/çıkar/silin"],
  ...["mesaj/sms/reklam atmayın/atma/göndermeyin/gönderme/yollamayın/istemiyorum", "bana … yazmayın"],
  ...["mesaj/sms/reklam almak istemiyorum", "mesajları durdurun/durdur", "rahatsız etmeyin"],
  // Arabic
  ...["إلغاء الاشتراك", "إلغاء اشتراكي", "ألغوا/ألغ اشتراكي", "أوقفوا/أوقف … الرسائل/رسائل/رسائلكم"],
  ...["توقفوا/توقف … الرسائل/رسائل/رسائلكم", "توقفوا/توقف عن مراسلتي/إزعاجي", "لا تراسلوني/تراسلني"],
  ...["لا ترسلوا/ترسل … رسائل/الرسائل", "لا أريد … رسائل/الرسائل/رسائلكم"],
  // Hebrew
  ...["הסירו/הסר/תסירו/תסיר/להסיר אותי", "תפסיקו/תפסיק/הפסיקו לשלוח … הודעות", "אל תכתבו לי"],
  ...["תפסיקו/תפסיק/הפסיקו לכתוב/להטריד", "אל תשלחו/תשלח … הודעות", "לא רוצה יותר/לקבל … הודעות"],
  // Hindi
  ...["मैसेज/मेसेज/संदेश … मत भेजो/भेजें/भेजिए/भेजना", "मैसेज/मेसेज/संदेश मत करो/करें/करना", "मैसेज/मेसेज/संदेश नहीं चाहिए"],
  "मैसेज/मेसेज/संदेश … बंद करो/करें/करिए/कर",
  // Indonesian
  ...["berhenti langganan/berlangganan", "hapus nomor saya", "jangan hubungi/chat saya/aku lagi"],
  "berhenti/stop/jangan kirim/kirimi/kirimkan/mengirim … pesan/sms/promo/iklan",
  "stop pesan/sms/promo/iklan",
  "tidak/gak/nggak mau/ingin menerima/terima/dapat … pesan/sms/promo/iklan",
  // Vietnamese
  ...["hủy đăng ký", "đừng/dừng/ngừng/ngưng gửi/nhắn … tin/quảng", "không muốn nhận … tin/quảng"],
  "đừng làm phiền",
  // Chinese
  ...["取消订阅", "取消訂閱", "退订/退訂 短信/消息/信息/广告/簡訊/訊息/廣告"],
  "不要/别/別 再 … 发/發/寄 … 短信/消息/信息/广告/簡訊/訊息/廣告",
  "不要/别/別 给/給 我 发/發/寄 … 短信/消息/信息/广告/簡訊/訊息/廣告",
  "不要/别/別 发/發 … 短信/消息/信息/广告/簡訊/訊息/廣告",
  "不想/不要 再/收 … 到 … 短信/消息/信息/广告/簡訊/訊息/廣告",
  "停止 … 短信/消息/信息/广告/推送/簡訊/訊息/廣告/推播",
  // Japanese
  ...["配信停止して/配信停止したい/配信停止お願い/配信停止希望", "配信を停止して/止めて"],
  ...["登録解除して/登録解除したい", "もう送らないで", "メッセージ … 送らないで"],
  ...["メッセージはいりません/不要", "連絡しないで"],
  // Korean
  ...["수신거부 해/할/하고/부탁", "문자/메시지/광고/카톡 … 보내지마/보내지말/그만", "그만보내"],
  "연락하지마",
];
