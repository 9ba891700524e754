/** The nodes that send messages and ask questions. */
import { fail } from "../../../../../tools/errors.ts";
import { durationMs, type NodeConfig } from "../../../../../tools/flows/index.ts";
import type { Interactive } from "../../../../../tools/messages/index.ts";
import { answerOf, choicesOf, chosen } from "../graph/index.ts";
import { readAnswer } from "./answers.ts";
import {
  always,
  done,
  type NodeContext,
  type NodeHandlers,
  type NodeOutcome,
  type OutgoingMessage,
} from "./node.ts";

/** Channels with a window allow replies without a template this long. The node has no timeout of its own. */
const buttonTimeout = "24h";

/** The longest text that a message can have. */
const maxTextLength = 4096;

export const messageHandlers: NodeHandlers<"send_message" | "send_template" | "ask" | "wait_for_reply"> = {
  send_message: {
    texts: ({ text, media, interactive }) => ({
      text,
      "media.caption": media?.caption,
      ...textsOf(interactive),
    }),
    sharesTransaction: always,
    async enter(config, context) {
      const message_id = await context.actions.send(compose(config, context));
      return context.awaitsButton
        ? waitForReply(context, { timeout: buttonTimeout, message_id })
        : done(message_id);
    },
    resume: (_, __, end) => ({ kind: "next", edge: end }),
  },

  send_template: {
    texts: ({ variables = {} }) =>
      Object.fromEntries(Object.entries(variables).map(([name, text]) => [`variables.${name}`, text])),
    references: ({ template_id }) =>
      template_id === undefined ? [] : [{ thing: "template", id: template_id, field: "template_id" }],
    sharesTransaction: always,
    async enter(config, context) {
      const filled = Object.entries(config.variables ?? {}).map(([name, text]) => [
        name,
        fillIn(text, context),
      ]);
      const variables = config.variables && Object.fromEntries(filled);
      return done(await context.actions.sendTemplate({ ...config, variables }));
    },
  },

  ask: {
    texts: ({ text, interactive, retry_text }) => ({ text, retry_text, ...textsOf(interactive) }),
    saves: ({ save_as }) => (save_as === undefined ? [] : [save_as]),
    patterns: ({ validate }) =>
      validate?.pattern === undefined ? [] : [{ field: "validate.pattern", pattern: validate.pattern }],
    sharesTransaction: always,
    async enter(config, context) {
      const message_id = await context.actions.send(compose(config, context));
      return waitForReply(context, { timeout: config.timeout, message_id });
    },
    async resume(config, context, end) {
      if (end.type === "timeout") {
        return { kind: "next", edge: end };
      }
      const { node, attempts } = context;
      const titles = choicesOf(node).map(({ title }) => title);
      const { reply, matches } = end;
      const answer = readAnswer(answerOf(node, reply), config.validate, { titles, matches });
      if (answer !== undefined) {
        const choice = choicesOf(node).find(({ id }) => id === chosen(node, reply));
        const save = config.save_as === undefined ? {} : { [config.save_as]: choice?.title ?? answer };
        return { kind: "next", edge: end, save };
      }
      return askAgain(config, context, attempts + 1);
    },
  },

  wait_for_reply: {
    sharesTransaction: always,
    enter: ({ timeout }, context) => waitForReply(context, { timeout }),
    resume: (_, __, end) => ({ kind: "next", edge: end }),
  },
};

/** After the allowed retries, the node fails. */
async function askAgain(
  config: NodeConfig<"ask">,
  context: NodeContext,
  attempts: number,
): Promise<NodeOutcome> {
  if (attempts > config.retries) {
    return { kind: "error", code: "answer_invalid" };
  }
  const { retry_text } = config;
  const again = retry_text === undefined ? config : { ...config, ...withBody(config, retry_text) };
  const message_id = await context.actions.send(compose(again, context));
  return waitForReply(context, { timeout: config.timeout, attempts, message_id });
}

/** The question with another text, and the same choices. */
function withBody({ interactive }: NodeConfig<"ask">, body: string) {
  return interactive ? { interactive: { ...interactive, body } } : { text: body };
}

function waitForReply(
  { now }: NodeContext,
  {
    timeout,
    ...rest
  }: { readonly timeout: string; readonly attempts?: number; readonly message_id?: string },
): NodeOutcome {
  return { kind: "wait", for: "reply", until: new Date(now.getTime() + durationMs(timeout)), ...rest };
}

type Content = Pick<NodeConfig<"send_message">, "text" | "interactive"> & {
  readonly media?: NodeConfig<"send_message">["media"];
};

function compose({ text = "", media, interactive }: Content, context: NodeContext): OutgoingMessage {
  if (media) {
    const { type, media_url, caption, file_name } = media;
    return {
      type,
      media_url,
      ...(caption === undefined ? {} : { caption: fillIn(caption, context) }),
      ...(file_name === undefined ? {} : { file_name }),
    };
  }
  if (interactive) {
    const { body, header, footer } = interactive;
    const texts = {
      body: fillIn(body, context),
      ...(header === undefined ? {} : { header: fillIn(header, context) }),
      ...(footer === undefined ? {} : { footer: fillIn(footer, context) }),
    };
    return { type: "interactive", interactive: { ...interactive, ...texts } };
  }
  return { type: "text", text: { body: fillIn(text, context) } };
}

/** @throws Failure `flow_message_invalid`. */
function fillIn(template: string, { render }: NodeContext): string {
  const text = render(template, { maxLength: maxTextLength });
  if (text === undefined) {
    throw fail("flow_message_invalid");
  }
  return text;
}

function textsOf(interactive: Interactive | undefined) {
  const { body, header, footer } = interactive ?? {};
  return { "interactive.body": body, "interactive.header": header, "interactive.footer": footer };
}
