/** The section of inboxes: the list, the set-up of a WhatsApp number, or the inbox that is open. */
import type { SectionProps } from "../section-props.ts";
import { InboxDetail } from "./inbox-detail.tsx";
import { InboxList } from "./inbox-list.tsx";
import "./inboxes.css";
import { WhatsAppSetup } from "./whatsapp-setup.tsx";

export function SettingsInboxes({ id }: SectionProps) {
  if (id === undefined) {
    return <InboxList />;
  }
  return id === "whatsapp" ? <WhatsAppSetup /> : <InboxDetail key={id} id={id} />;
}
