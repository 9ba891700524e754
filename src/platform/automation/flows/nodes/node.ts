/**
 * What a type of node does. A handler decides by the action_config and the run's facts, and acts through `Actions` alone, so
 * that a rehearsal runs the same handlers with actions that only record.
 */

import type { InputOf } from "../../../../../tools/contract/index.ts";
import type { ConversationStatus } from "../../../../../tools/conversations.ts";
import type { NodeConfig, NodeType } from "../../../../../tools/flows/index.ts";
import type { messages } from "../../../../../tools/messages/index.ts";
import type { FlowCallRequest, FlowCallResult } from "../../../../database/schema/index.ts";
import type { Edge, GraphNode, Problem, Reply } from "../graph/index.ts";
import type { MatchPattern } from "../texts/patterns.ts";
import type { Filling } from "../texts/placeholders.ts";

export type Outgoing = Omit<InputOf<typeof messages.send_message>, "to" | "inbox_id">;

export interface AssignTarget {
  readonly team_id?: string | undefined;
  readonly user_id?: string | undefined;
  /** A routing policy. Without any target, routing chooses. */
  readonly policy?: string | undefined;
}

/** What a node may do. A Failure that one of these throws is the result of the node. */
export interface Actions {
  /** Returns the id of the message. */
  send(message: Outgoing): Promise<string>;
  sendTemplate(template: Readonly<NodeConfig<"send_template">>): Promise<string>;
  assign(target: AssignTarget): Promise<void>;
  unassign(): Promise<void>;
  /**
   * The chatbot goes on, and answers the contact's latest message if nothing has been sent since. Returns false if an event
   * or a schedule started the run and people have the conversation.
   */
  handToBot(): Promise<boolean>;
  changeTags(on: "contact" | "conversation", change: { add?: string[]; remove?: string[] }): Promise<void>;
  /** Null removes the attribute. */
  setAttribute(name: string, value: unknown): Promise<void>;
  setStatus(status: ConversationStatus, until: Date | null): Promise<void>;
  /** Returns whether the other flow takes over, because both may wait for replies. */
  startFlow(flow_id: string): Promise<boolean>;
  /** The next time of day in the organization's time zone. */
  nextTimeOfDay(time: string): Promise<Date>;
  /** When the organization is open next: now, if it is open; null if it never is. */
  nextOpening(): Promise<Date | null>;
}

/** Why a wait ended. */
export type WaitEnd =
  | { readonly type: "timeout" }
  | { readonly type: "reply"; readonly reply: Reply; readonly matches: MatchPattern }
  | { readonly type: "response"; readonly result: FlowCallResult };

/** What a node is run with. */
export interface NodeContext {
  readonly node: GraphNode;
  readonly now: Date;
  readonly actions: Actions;
  /** The answers to this question that were not valid. */
  readonly attempts: number;
  /** Whether button edges wait for the reply to this message. */
  readonly awaitsButton: boolean;
  /** Fills in placeholders. Undefined if the text becomes longer than `maxLength`. */
  render(text: string, form: Pick<Filling, "encode" | "maxLength">): string | undefined;
  /** Fills in the texts of a JSON value and returns its JSON; undefined if that becomes longer. */
  renderJson(value: unknown, maxLength: number): string | undefined;
  matches(query: Readonly<Record<string, unknown>>): boolean;
}

/** What a node resulted in. */
export type Outcome =
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
  /** Waits for the response to an HTTP request, which is sent after the commit. */
  | { readonly kind: "call"; readonly request: FlowCallRequest }
  | { readonly kind: "goto"; readonly node_id: string }
  | { readonly kind: "end" }
  /** Another flow, or the chatbot, goes on in place of this run. */
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
  /** Its texts with placeholders, by field. */
  texts?(config: Config): Readonly<Record<string, string | undefined>>;
  /** What it saves, as placeholders name it after `vars.`: mail, order.status, order.body.<path>. */
  saves?(config: Config): readonly string[];
  /** The regular expressions that answers are matched with. */
  patterns?(config: Config): readonly { readonly pattern: string; readonly field: string }[];
  references?(config: Config): readonly Reference[];
  /** What else may be wrong; `field` is the place of the action_config. */
  check?(config: Config, field: string): readonly Problem[];
  /** What is valid, and probably not what its author wants; `field` as above. */
  warnings?(config: Config, field: string): readonly Problem[];
  /** The URL that it requests with its headers, for a check. Placeholders are filled in with any text. */
  requests?(config: Config): { readonly url: string; readonly headers: Readonly<Record<string, string>> };
  /** Its headers whose values are stored apart, sealed; null: as before. */
  secrets?(config: Config): Readonly<Record<string, string | null>>;
  /** Runs the node. */
  enter(config: Config, context: NodeContext): Promise<Outcome> | Outcome;
  /** Continues after a wait. */
  resume?(
    config: Config,
    context: NodeContext,
    end: Exclude<WaitEnd, { readonly type: "response" }>,
  ): Promise<Outcome> | Outcome;
  /** Continues after a call. */
  receive?(config: Config, result: FlowCallResult): Outcome;
}

export type NodeHandlers<Type extends NodeType = NodeType> = {
  readonly [Name in Type]: NodeHandler<NodeConfig<Name>>;
};

/** The node is done. */
export const done = (message_id?: string): Outcome => ({
  kind: "next",
  edge: { type: "done" },
  ...(message_id === undefined ? {} : { message_id }),
});
