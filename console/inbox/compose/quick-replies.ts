/** The organization's quick replies, read when the reply box is opened. */
import { signal } from "@preact/signals";
import { type Answer, call } from "../../service/call.ts";
import { texts } from "../../texts.ts";
import type { OfferSource } from "./offer-list.tsx";

const quickReplies = signal<Answer<"list_quick_replies">["data"]>([]);

export async function readQuickReplies(): Promise<void> {
  try {
    const { data } = await call("list_quick_replies", {});
    quickReplies.value = data;
  } catch {
    // The reply box works without them, and reads them again when it is opened again.
  }
}

export const quickReplySource: OfferSource = {
  sign: "/",
  label: texts.compose.quickReplies,
  find: (typed) =>
    quickReplies.value
      .map(({ id, short_code, content }) => ({ id, name: nameOf(short_code), detail: content, content }))
      .filter(({ name }) => name.toLowerCase().startsWith(`/${typed}`)),
};

/** Some short codes were saved with the slash. */
const nameOf = (shortCode: string) => (shortCode.startsWith("/") ? shortCode : `/${shortCode}`);
