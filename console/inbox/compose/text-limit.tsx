/** How long a text may be, and what is said of one that is longer: nothing is cut off. */
import { texts } from "../../texts.ts";

/** Of a message and of a note. */
const longestText = 4096;

export function isTooLong(text: string): boolean {
  return text.length > longestText;
}

export function TooLong({ text }: { text: string }) {
  return (
    <p class="small error" role="status">
      {isTooLong(text) && texts.compose.tooLong(longestText, text.length - longestText)}
    </p>
  );
}
