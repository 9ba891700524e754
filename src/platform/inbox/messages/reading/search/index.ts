/** Searches the texts of messages. */
import { z } from "zod";
import type { messages as contract } from "../../../../../../tools/messages/index.ts";
import { withTimeLimit } from "../../../../../database/query/index.ts";
import { failCursor } from "../../../../foundation/cursor-texts.ts";
import type { ReadContext } from "../../../../foundation/kernel/index.ts";
import { countMatches, findMatches, type SearchPosition } from "./find.ts";
import { indexMessages } from "./index-words.ts";
import { readQueryWords } from "./words.ts";

export { findMatches } from "./find.ts";
export { indexMessages, indexMessagesJob, replaceWords } from "./index-words.ts";
export { searchWordsOf, type WordQuery } from "./words.ts";

type Input = z.output<typeof contract.search_messages.input>;

export async function searchMessages(
  { query, direction, after, per_page: limit }: Input,
  context: ReadContext,
) {
  const { world, organization } = context;
  const words = readQueryWords(query);
  if (words.length === 0) {
    return { conversations: [], cursor: null, is_complete: true };
  }
  const position = after === undefined ? {} : readPosition(after);
  const oldest = await indexMessages(world, organization);
  const search = {
    organization,
    query: { words, combination: "all" },
    direction,
    limit,
    ...position,
  } as const;
  const { matches, next, counts } = await withTimeLimit(world.database, async (db) => {
    const found = await findMatches(db, search);
    return { ...found, counts: await countMatches(db, search, found.matches) };
  });
  const conversations = matches.map(({ passage, id: message_id, direction, created_at, ...match }) => ({
    id: match.conversation_id,
    contact_id: match.contact_id,
    contact_name: match.contact_name,
    phone_number: match.phone_number,
    status: match.status,
    match_count: counts.get(match.conversation_id) ?? 1,
    match: { message_id, direction, text: passage, created_at },
  }));
  return {
    conversations,
    cursor: next && writePosition(next),
    is_complete: oldest === null,
  };
}

const messageId = z.string().regex(/^msg_[0-9a-z]{26}$/);
const Position = z.object({ until: messageId, before: messageId });

function writePosition(position: SearchPosition): string {
  return Buffer.from(JSON.stringify(position)).toString("base64url");
}

/** @throws Failure `invalid_cursor`. */
function readPosition(text: string): SearchPosition {
  const position = Position.safeParse(parse(Buffer.from(text, "base64url").toString()));
  if (!position.success) {
    throw failCursor(text, "not a cursor that search_messages returned");
  }
  return position.data;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
