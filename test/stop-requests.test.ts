/** Which messages seem to ask for no more messages, in every language that has stop words. */
import { expect, test } from "vitest";
import { asksToStop } from "../src/platform/inbox/messages/consent/index.ts";

test.each([
  ...["please stop sending me these", "unsubscribe me", "no more messages", "Please stop.", "please, stop"],
  ...[
    "STOP STOP STOP",
    "stop!! please!!",
    "I have asked twice. Please stop.",
    "stop it now thanks",
    "Please stop sending me these, John",
  ],
  ...["Can you stop texting me?", "No, stop texting me", "I don't like it, unsubscribe me", "opt-out please"],
  ...["why don't you stop sending me messages", "I want these messages to stop", "leave me alone!"],
  ...["Stop sending me so many messages", "don't send me any more texts", "take me off your list"],
  ...["I do not want any of these messages", "ＰＬＥＡＳＥ　ＳＴＯＰ", "Don’t message me again"],
  ...["No me escriban más", "quiero darme de baja", "dejen de enviarme mensajes", "pare por favor"],
  ...["no quiero recibir más promociones", "no más mensajes por favor"],
  ...["não quero mais receber mensagens", "parem de me mandar mensagens", "quero sair da lista"],
  ...["Arrêtez de m'envoyer des messages", "désabonnez-moi svp", "ne m’écrivez plus"],
  ...["je ne veux plus recevoir de SMS", "Arrêtez s'il vous plaît"],
  ...["Bitte keine Nachrichten mehr", "Ich möchte mich abmelden", "Bitte hören Sie auf, mir zu schreiben."],
  ...["Schreiben Sie mir bitte nicht mehr", "Keine Werbung mehr!"],
  ...["Non scrivetemi più", "Smettetela di mandarmi messaggi", "vorrei disiscrivermi", "basta messaggi"],
  ...["Schrijf me uit", "geen berichten meer aub", "sluta skicka sms", "avregistrera mig tack"],
  ...["ingen flere meldinger takk", "afmeld mig tak", "stop med at sende mig beskeder"],
  ...["Proszę mnie wypisać", "nie chcę więcej wiadomości", "przestańcie do mnie pisać"],
  ...["Отпишите меня", "хватит мне писать", "Не пишите мне больше", "не присылайте рекламу"],
  ...["Відпишіть мене", "припиніть спамити"],
  ...["abonelikten çıkmak istiyorum", "Mesaj atmayın lütfen", "ARTIK MESAJ İSTEMİYORUM"],
  ...["أريد إلغاء الاشتراك", "توقفوا عن إرسال الرسائل", "لا ترسلوا لي رسائل"],
  ...["הסירו אותי", "תפסיקו לשלוח לי הודעות", "मुझे मैसेज मत भेजो", "मैसेज भेजना बंद करो", "कृपया बंद करें"],
  ...["jangan kirim sms lagi", "saya mau berhenti langganan", "stop kirim promo"],
  ...["tôi muốn hủy đăng ký", "đừng nhắn tin nữa"],
  ...["请不要再给我发短信", "别再发了", "请退订", "我要取消订阅", "別再發廣告"],
  ...["もう送らないでください", "配信停止してください", "メッセージを送らないで"],
  ...["문자 보내지 마세요", "광고 메시지 그만", "수신거부 해주세요", "그만 보내세요"],
])("%j is a request", (text) => {
  expect(asksToStop(text)).toBe(true);
});

test.each([
  ...["don't stop, I like it", "cancel my order", "Please don't stop", "never stop sending me these!"],
  ...[
    "stop, o Zé não vem",
    "Stop! Zé is not coming",
    "stop sending me the wrong size",
    "cancel",
    "end",
    "ok stop",
  ],
  ...["where is the bus stop?", "non-stop service!", "I can't stop laughing", "please stop the delivery"],
  ...["I do not want to unsubscribe", "I don't want you to stop sending messages", "the end", "thanks"],
  ...["Do not stop the messages", "please never unsubscribe me", "I don't get your messages"],
  ...["Did you get my messages?", "one more message: cancel it", "stop by to see the offers tomorrow"],
  ...["take me off hold", "I want to cancel my subscription to the gym", "", " ", "🛑", "..."],
  ...["no quiero darme de baja", "cancela mi pedido por favor", "basta", "quero cancelar"],
  ...["não pare de me mandar mensagens", "não quero sair da lista", "Je ne veux pas me désabonner"],
  ...["N'arrêtez pas de m'envoyer des messages", "annulez ma commande", "Ich will mich nicht abmelden"],
  ...["Schuhe abbestellen", "Bestellung stornieren bitte", "hören Sie nicht auf, mir zu schreiben"],
  ...["Non smettete di scrivermi", "annulla l'ordine", "ik wil me niet afmelden", "sluta inte"],
  ...["nie chcę się wypisać", "не хочу отписаться", "отмените заказ", "не хочу відписатися"],
  ...["abonelikten çıkmak istemiyorum", "لا أريد إلغاء الاشتراك", "אני לא רוצה להסיר אותי"],
  ...["मैसेज बंद मत करना", "jangan berhenti kirim pesan", "tôi không muốn hủy đăng ký"],
  ...["我不想取消订阅", "别忘了发消息", "我想退订酒店", "配信停止しないでください"],
])("%j is not a request", (text) => {
  expect(asksToStop(text)).toBe(false);
});
