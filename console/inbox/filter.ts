/** Which conversations the list shows. The page's address has the filter, so that it can be shared. */
import type { Input } from "../service/call.ts";

type ListInput = Input<"list_conversations">;

/** The parts of the inbox, in the order of the menu, with the input that selects each. */
export const views = {
  open: { status: "open" },
  mine: { status: "open", filter: "assigned_to_me" },
  unassigned: { status: "open", filter: "unassigned" },
  unread: { filter: "unread_by_me" },
  mentions: { filter: "mentions_me" },
  favorites: { filter: "favorite" },
  waiting: { filter: "unanswered", sort: "waiting" },
  snoozed: { status: "snoozed" },
  closed: { status: "closed" },
  spam: { status: "spam" },
  all: {},
} as const satisfies Record<string, ListInput>;

type View = keyof typeof views;

export interface Filter {
  readonly view: View;
  readonly inbox_id: string;
  readonly team_id: string;
  readonly tag: string;
  /** Words of messages, a name, or a part of a number. */
  readonly search: string;
}

const none: Filter = { view: "open", inbox_id: "", team_id: "", tag: "", search: "" };

export function isView(text: string): text is View {
  return Object.hasOwn(views, text);
}

export function readFilter(query: Readonly<Record<string, string | undefined>>): Filter {
  const { view = "", inbox_id = "", team_id = "", tag = "", search = "" } = query;
  return { view: isView(view) ? view : none.view, inbox_id, team_id, tag, search };
}

/** The query of the page's address, without what is usual; empty or with its question mark. */
export function formatFilter(filter: Filter): string {
  const entries = Object.entries(filter).filter(([name, value]) => value !== none[name as keyof Filter]);
  return entries.length === 0 ? "" : `?${new URLSearchParams(entries)}`;
}

export function inputOf({ view, inbox_id, team_id, tag }: Filter): ListInput {
  const narrowed = Object.entries({ inbox_id, team_id, tag }).filter(([, value]) => value !== "");
  return { ...views[view], ...Object.fromEntries(narrowed) };
}
