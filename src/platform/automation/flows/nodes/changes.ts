/** The nodes that change the conversation and its contact. */
import { maxMetadata } from "../../../../../tools/contract/index.ts";
import { fail } from "../../../../../tools/errors.ts";
import { durationMs } from "../../../../../tools/flows/index.ts";
import { maxNoteLength } from "../../../../../tools/notes.ts";
import { always, done, type NodeHandlers, type Reference } from "./node.ts";

export const changeHandlers: NodeHandlers<
  "assign" | "unassign" | "chatbot" | "add_tag" | "remove_tag" | "set_attribute" | "set_status" | "add_note"
> = {
  assign: {
    references: targetsOf,
    async enter(target, { actions }) {
      await actions.assign(target);
      return done();
    },
  },

  unassign: {
    async enter(_, { actions }) {
      await actions.unassign();
      return done();
    },
  },

  chatbot: {
    async enter(_, { actions }) {
      return { kind: (await actions.handToBot()) ? "handover" : "end" };
    },
  },

  add_tag: {
    sharesTransaction: isOfContact,
    async enter({ tag, on }, { actions }) {
      await actions.changeTags(on, { add: [tag] });
      return done();
    },
  },

  remove_tag: {
    sharesTransaction: isOfContact,
    async enter({ tag, on }, { actions }) {
      await actions.changeTags(on, { remove: [tag] });
      return done();
    },
  },

  set_attribute: {
    texts: ({ value }) => ({ value: typeof value === "string" ? value : undefined }),
    sharesTransaction: always,
    async enter({ name, value }, { actions, render }) {
      const filled = typeof value === "string" ? render(value, { maxLength: maxMetadata }) : value;
      if (filled === undefined) {
        throw fail("attributes_too_large");
      }
      await actions.setAttribute(name, filled);
      return done();
    },
  },

  set_status: {
    async enter({ status, duration }, { actions, now }) {
      const until = duration === undefined ? null : new Date(now.getTime() + durationMs(duration));
      await actions.setStatus(status, until);
      return done();
    },
  },

  add_note: {
    texts: ({ text }) => ({ text }),
    async enter({ text }, { actions, render }) {
      const filled = render(text, { maxLength: maxNoteLength })?.trim() ?? "";
      if (filled === "") {
        throw fail("flow_note_invalid");
      }
      await actions.addNote(filled);
      return done();
    },
  },
};

/** A tag of a conversation may be a required skill, and so lets the queue of the organization move. */
function isOfContact({ on }: { readonly on: "contact" | "conversation" }): boolean {
  return on === "contact";
}

/** The team, the user and the policy that a node or an end action assigns to. */
export function targetsOf({
  team_id,
  user_id,
  policy,
}: {
  readonly team_id?: string | undefined;
  readonly user_id?: string | undefined;
  readonly policy?: string | undefined;
}): Reference[] {
  return [
    ...(team_id === undefined ? [] : [{ thing: "team", id: team_id, field: "team_id" } as const]),
    ...(user_id === undefined ? [] : [{ thing: "user", id: user_id, field: "user_id" } as const]),
    ...(policy === undefined ? [] : [{ thing: "policy", id: policy, field: "policy" } as const]),
  ];
}
