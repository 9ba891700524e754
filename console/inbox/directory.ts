/** What several parts of the inbox choose from: people, teams and inboxes. Read once and kept. */
import { type ReadonlySignal, signal } from "@preact/signals";
import { type Answer, call } from "../service/call.ts";
import { listAllTeams, listEverybody } from "../service/list-all.ts";

type Person = Answer<"list_users">["data"][number];
type Team = Answer<"list_teams">["data"][number];
type Inbox = Answer<"list_inboxes">["data"][number];

interface Directory {
  readonly people: readonly Person[];
  readonly teams: readonly Team[];
  readonly inboxes: readonly Inbox[];
}

const stored = signal<Directory>({ people: [], teams: [], inboxes: [] });
export const directory: ReadonlySignal<Directory> = stored;

export async function readDirectory(): Promise<void> {
  const [people, teams, inboxes] = await Promise.all([
    listEverybody(),
    listAllTeams(),
    call("list_inboxes", {}),
  ]);
  stored.value = {
    people: people.filter(({ is_active }) => is_active),
    teams: teams.filter(({ is_active }) => is_active),
    inboxes: inboxes.data,
  };
}
