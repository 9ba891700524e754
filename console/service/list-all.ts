/** Lists that are read to their end: what a choice offers must be complete. */
import { type Answer, call } from "./call.ts";

type User = Answer<"list_users">["data"][number];
type Team = Answer<"list_teams">["data"][number];

const per_page = 100;

/** All people, also those who are inactive. */
export function listEverybody(): Promise<readonly User[]> {
  return readPages((page) => call("list_users", { page, per_page }));
}

/** All teams, the lowest tier first. */
export function listAllTeams(): Promise<readonly Team[]> {
  return readPages((page) => call("list_teams", { page, per_page }));
}

interface Page<Item> {
  readonly data: readonly Item[];
  readonly meta: { readonly total: number };
}

async function readPages<Item>(read: (page: number) => Promise<Page<Item>>): Promise<readonly Item[]> {
  const all: Item[] = [];
  for (let page = 1; ; page += 1) {
    const { data, meta } = await read(page);
    all.push(...data);
    if (data.length === 0 || all.length >= meta.total) {
      return all;
    }
  }
}
