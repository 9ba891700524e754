/** Templates for tests: approved ones, and messages with them. */

import type { TemplateAuthority } from "../../src/ports/channel/template-authority.ts";
import type { InputOf } from "../../tools/contract/index.ts";
import { messages } from "../../tools/messages/index.ts";
import { templates } from "../../tools/templates/index.ts";
import type { TestApp } from "./app.ts";

type Input = InputOf<typeof templates.create_template>;
export type TemplateContent = NonNullable<InputOf<typeof messages.send_message>["template"]>;
type SentContent = Omit<TemplateContent, "language"> & { readonly language?: string };

/** The language is English, unless another one is given. */
export function createTemplateHelpers(app: TestApp) {
  async function send(to: string, template: SentContent, more: object = {}) {
    const content = { language: "en", ...template };
    return app.call(messages.send_message, { to, type: "template", template: content, ...more });
  }

  async function create(input: Partial<Input> & Pick<Input, "name">) {
    const base = { category: "utility" as const, template_data: { body: "Hello." } };
    return (await app.call(templates.create_template, { ...base, ...input })).data;
  }

  return {
    send,
    /** A draft, by default a utility template without variables. */
    create,
    /** A template after its approval by the simulated authority, which takes a second. */
    async approve(input: Parameters<typeof create>[0]) {
      const { id } = await create(input);
      await app.call(templates.submit_template, { id });
      await app.advanceTime(1_000);
      return (await app.call(templates.get_template, { id })).data;
    },
    /** Sends a template and returns the stored message. */
    async sendAndRead(to: string, template: SentContent) {
      const { data } = await send(to, template);
      const { conversation_id, id: message_id } = data;
      return (await app.call(messages.get_message, { conversation_id, message_id })).data;
    },
  };
}

/** The review authority of an app: the simulated one, or what a test puts in its place. */
export function createReplaceableAuthority() {
  let simulated: TemplateAuthority | undefined;
  let called: TemplateAuthority | undefined;
  const requireApp = <Value>(value: Value | undefined): Value => {
    if (value === undefined) {
      throw new Error("the app runs only during tests");
    }
    return value;
  };
  return {
    get simulated() {
      return requireApp(simulated);
    },
    /** An option of the app. */
    replaceAuthority(original: TemplateAuthority): TemplateAuthority {
      simulated = original;
      called = original;
      return {
        ...original,
        submit: (...args) => requireApp(called).submit(...args),
        list: (...args) => requireApp(called).list(...args),
        delete: (...args) => requireApp(called).delete(...args),
      };
    },
    /** Puts functions in the place of the simulated authority's; without any, all are its own again. */
    replace(functions: Partial<TemplateAuthority> = {}) {
      called = { ...requireApp(simulated), ...functions };
    },
  };
}

/** Sets how the simulated authority decides, or decides about a template by its name. */
export async function setReview(app: TestApp, review: object): Promise<void> {
  const answer = await app.fetch("/simulator/templates", { method: "PUT", json: review });
  if (!answer.ok) {
    throw new Error(await answer.text());
  }
}
