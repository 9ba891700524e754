/**
 * The interface of a type of node. A handler decides by the action_config and the facts of the run, and has
 * effects only through `Actions`, so that a rehearsal runs the same handlers with actions that only record.
 */

import type { InputOf } from "../../../../../tools/contract/index.ts";
import type { ConversationStatus } from "../../../../../tools/conversations.ts";
import type { NodeConfig, NodeType } from "../../../../../tools/flows/index.ts";
import type { messages } from "../../../../../tools/messages/index.ts";
import type { FlowCallRequest, FlowCallResult } from "../../../../database/schema/index.ts";
import type { ContactReply, Edge, GraphNode, Problem } from "../graph/index.ts";
import type { MatchPattern } from "../texts/patterns.ts";
import type { Filling } from "../texts/placeholders.ts";

export type OutgoingMessage = Omit<InputOf<typeof messages.send_message>, "to" | "inbox_id">;

export interface AssignTarget {
  readonly team_id?: string | undefined;
  readonly user_id?: string | undefined;
  /** The id of a routing policy. Without any target, routing chooses. */
  readonly policy?: string | undefined;
}

/** The effects that a node may have. A Failure that an action throws becomes the result of the node. */
export interface Actions {
  /** Returns the id of the message. */
  send(message: OutgoingMessage): Promise<string>;
  sendTemplate(template: Readonly<NodeConfig<"send_template">>): Promise<string>;
  assign(target: AssignTarget): Promise<void>;
  unassign(): Promise<void>;
  /**
   * The chatbot takes the conversation, and answers the contact's latest message if nothing has been sent
   * since. Returns false if an event or a schedule started the run and people handle the conversation.
   */
  handToBot(): Promise<boolean>;
  changeTags(on: "contact" | "conversation", change: { add?: string[]; remove?: string[] }): Promise<void>;
  /** Null removes the attribute. */
  setAttribute(name: string, value: unknown): Promise<void>;
  setStatus(status: ConversationStatus, until: Date | null): Promise<void>;
  /** An internal note: nothing sends it. */
  addNote(text: string): Promise<void>;
  /** Returns whether the other flow takes over, because both may wait for replies. */
  startFlow(flow_id: string): Promise<boolean>;
  /** The next occurrence of a time of day in the organization's time zone. */
  nextTimeOfDay(time: string): Promise<Date>;
  /** The time when the organization opens next: now if it is open, null if it never opens. */
  nextOpening(): Promise<Date | null>;
}

/** Why a wait ended. */
export type WaitEnd =
  | { readonly type: "timeout" }
  | { readonly type: "reply"; readonly reply: ContactReply; readonly matches: MatchPattern }
  | { readonly type: "response"; readonly result: FlowCallResult };

/** The input of a node. */
export interface NodeContext {
  readonly node: GraphNode;
  readonly now: Date;
  readonly actions: Actions;
  /** How many answers to this question were not valid. */
  readonly attempts: number;
  /** Whether button edges wait for the reply to this message. */
  readonly awaitsButton: boolean;
  /** Fills in placeholders. Undefined if the text becomes longer than `maxLength`. */
  render(text: string, form: Pick<Filling, "encode" | "maxLength">): string | undefined;
  /**
   * Fills in the texts of a JSON value and returns its JSON; undefined if the JSON becomes longer than
   * `maxLength`.
   */
  renderJson(value: unknown, maxLength: number): string | undefined;
  matches(query: Readonly<Record<string, unknown>>): boolean;
}

/** The result of a node. */
export type NodeOutcome =
  | {
      readonly kind: "next";
      readonly edge: Exclude<Edge, { readonly type: "error" }>;
      /** Variables of the run to set. */
      readonly save?: Readonly<Record<string, unknown>>;
      readonly message_id?: string;
    }
  | {
      readonly kind: "wait";
      readonly for: "time" | "reply";
      readonly until: Date;
      readonly attempts?: number;
      readonly message_id?: string;
    }
  /** Waits for the response to an HTTP request. The request is sent after the commit. */
  | { readonly kind: "call"; readonly request: FlowCallRequest }
  | { readonly kind: "goto"; readonly node_id: string }
  | { readonly kind: "end" }
  /** Another flow, or the chatbot, takes the place of this run. */
  | { readonly kind: "handover" }
  | {
      readonly kind: "error";
      readonly code: string;
      readonly save?: Readonly<Record<string, unknown>>;
    };

/** Something of the organization that a node refers to by its id. */
export interface Reference {
  readonly thing: "team" | "user" | "policy" | "flow" | "template";
  readonly id: string;
  readonly field: string;
}

export interface NodeHandler<Config> {
  /** The node's texts with placeholders, by field. */
  texts?(config: Config): Readonly<Record<string, string | undefined>>;
  /**
   * The variables that the node saves, in the form of placeholders after `vars.`: mail, order.status,
   * order.body.<path>.
   */
  saves?(config: Config): readonly string[];
  /** The regular expressions that answers are matched with. */
  patterns?(config: Config): readonly { readonly pattern: string; readonly field: string }[];
  references?(config: Config): readonly Reference[];
  /** Finds further problems; `field` is the place of the action_config. */
  check?(config: Config, field: string): readonly Problem[];
  /** Finds what is valid but probably not what its author wants; `field` as above. */
  warnings?(config: Config, field: string): readonly Problem[];
  /**
   * The URL that the node requests with its headers, for a check. Placeholders are filled in with any text.
   */
  requests?(config: Config): { readonly url: string; readonly headers: Readonly<Record<string, string>> };
  /** The headers of the node whose values are stored apart, sealed; null: keep the stored value. */
  secrets?(config: Config): Readonly<Record<string, string | null>>;
  /**
   * Whether such nodes of several runs, each with another contact, may run at the same time in one
   * transaction: they change nothing but the contact and send only to the contact. Default: they may not.
   */
  sharesTransaction?(config: Config): boolean;
  /** Runs the node. */
  enter(config: Config, context: NodeContext): Promise<NodeOutcome> | NodeOutcome;
  /** Continues after a wait. */
  resume?(
    config: Config,
    context: NodeContext,
    end: Exclude<WaitEnd, { readonly type: "response" }>,
  ): Promise<NodeOutcome> | NodeOutcome;
  /** Continues after a call. */
  receive?(config: Config, result: FlowCallResult): NodeOutcome;
}

export type NodeHandlers<Type extends NodeType = NodeType> = {
  readonly [Name in Type]: NodeHandler<NodeConfig<Name>>;
};

/** For `sharesTransaction` of a handler. */
export const always = () => true;

/** The node is done. */
export const done = (message_id?: string): NodeOutcome => ({
  kind: "next",
  edge: { type: "done" },
  ...(message_id === undefined ? {} : { message_id }),
});
