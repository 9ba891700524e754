/**
 * The text of a cursor: its position and, on a database that was restored, `~` and the id of the restore. A
 * cursor of before the restore is rejected, because its numbers of transactions are of another database.
 */
import { failField } from "../../../tools/errors.ts";
import { shortenText } from "../../texts/cut.ts";
import type { World } from "./kernel/index.ts";
import { readRestoreId } from "./settings.ts";

export interface CursorTexts {
  write(position: string): string;
  /** @throws Failure `invalid_cursor` for a cursor of before the restore, or of another database. */
  read(text: string): string;
}

const ids = new WeakMap<World, Promise<string | undefined>>();

/**
 * The id is read once in a process: only a database that no service has used can be restored.
 *
 * @param advice what to do with a cursor of before the restore, as a sentence.
 */
export async function openCursorTexts(world: World, advice: string): Promise<CursorTexts> {
  const reading = ids.get(world) ?? readRestoreId(world.database);
  ids.set(world, reading);
  const id = await reading.catch((error: unknown) => {
    ids.delete(world);
    throw error;
  });
  return {
    write: (position) => (id === undefined ? position : `${position}~${id}`),
    read(text) {
      const [position = "", ofRestore] = text.split("~");
      if (ofRestore !== id) {
        throw failCursor(text, id === undefined ? ofAnother : `${beforeRestore}. ${advice}`);
      }
      return position;
    },
  };
}

const ofAnother = "of another database";
const beforeRestore = "of before this database was restored from a backup";

export function failCursor(text: string, reason: string) {
  return failField("after", "invalid_cursor", { value: shortenText(text, 64), reason });
}
