/** An internal note between the messages. */
import { texts } from "../../texts.ts";
import { formatClock, formatComplete } from "../../time.ts";
import { describeSender, nameOfPerson } from "../names.ts";
import type { Note } from "./open-conversation.ts";

export function NoteBubble({ note: { author, created_at, text, mentions } }: { note: Note }) {
  return (
    <li class="bubble note">
      <p class="small muted">
        {texts.conversation.note} · {describeSender(author)} ·{" "}
        <time datetime={created_at} title={formatComplete(created_at)}>
          {formatClock(created_at)}
        </time>
        {mentions.length > 0 && ` · ${texts.conversation.noteFor(mentions.map(nameOfPerson))}`}
      </p>
      <p class="text">{text}</p>
    </li>
  );
}
