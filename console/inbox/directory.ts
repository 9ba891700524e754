/** What several parts of the inbox choose from: people, teams and inboxes. Read once and kept. */
import { type ReadonlySignal, signal } from "@preact/signals";
import { type Answer, call } from "../service/call.ts";

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

const most = 100;

export async function readDirectory(): Promise<void> {
  const [people, teams, inboxes] = await Promise.all([
    call("list_users", { per_page: most }),
    call("list_teams", { per_page: most }),
    call("list_inboxes", {}),
  ]);
  stored.value = {
    people: people.data.filter(({ is_active }) => is_active),
    teams: teams.data.filter(({ is_active }) => is_active),
    inboxes: inboxes.data,
  };
}
