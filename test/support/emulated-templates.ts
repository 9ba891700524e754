/** Templates of a WhatsApp inbox on the emulator: created there or here, and sent. */
import { defaults } from "../../emulator/index.ts";
import type { InputOf } from "../../tools/contract/index.ts";
import { messages } from "../../tools/messages/index.ts";
import { templates } from "../../tools/templates/index.ts";
import type { useEmulatedWhatsApp } from "./whatsapp-channel.ts";
import type { Json } from "./whatsapp-emulator.ts";

type Input = InputOf<typeof templates.create_template>;
export type TemplateInput = Input["template_data"];

export function createEmulatedTemplates(whatsApp: ReturnType<typeof useEmulatedWhatsApp>) {
  const { app_id, waba_id, access_token } = defaults;

  /** A request of the Graph API: a GET, or a POST with a body. */
  async function graph(path: string, body?: object): Promise<Json> {
    const answer = await fetch(`${whatsApp().emulator.url}/v26.0/${path}`, {
      method: body === undefined ? "GET" : "POST",
      headers: { authorization: `Bearer ${access_token}`, "content-type": "application/json" },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    return (await answer.json()) as Json;
  }

  async function find(name: string) {
    const { app } = whatsApp();
    const { data: found } = await app.call(templates.list_templates, { search: name });
    return (await app.call(templates.get_template, { id: found[0]?.id ?? "" })).data;
  }

  /** Submits a template, and waits for its approval. */
  async function approve(id: string): Promise<void> {
    const { app, advance } = whatsApp();
    await app.call(templates.submit_template, { id });
    await advance(2_000);
    await app.call(templates.sync_templates, {});
  }

  return {
    graph,
    find,
    approve,
    /** The handle of a sample at Meta. */
    async uploadSample(): Promise<string> {
      const query = "file_length=6&file_type=image/png&file_name=a.png";
      const { id } = await graph(`${app_id}/uploads?${query}`, {});
      const answer = await fetch(`${whatsApp().emulator.url}/v26.0/${id}`, {
        method: "POST",
        headers: { authorization: `OAuth ${access_token}`, file_offset: "0" },
        body: "sample",
      });
      return ((await answer.json()) as Json).h;
    },
    /** Creates a draft for the emulated inbox, in English. */
    async create(name: string, template_data: Input["template_data"], more: Partial<Input> = {}) {
      const { app, inbox } = whatsApp();
      const input = {
        name,
        language: "en",
        category: "marketing" as const,
        inbox_id: inbox.id,
        template_data,
      };
      return (await app.call(templates.create_template, { ...input, ...more })).data;
    },
    /** What the emulator has of a template. */
    async listed(name: string): Promise<Json> {
      const fields = "parameter_format,components,message_send_ttl_seconds";
      return (await graph(`${waba_id}/message_templates?fields=${fields}&name=${name}`)).data[0];
    },
    /** A template that was created at Meta, after a sync. */
    async createAtMeta(template: object) {
      const { app, advance } = whatsApp();
      const created = await graph(`${waba_id}/message_templates`, { language: "en", ...template });
      await advance(2_000);
      const { data: synced } = await app.call(templates.sync_templates, {});
      return { created, synced };
    },
    /** The components that the emulator got for a message, and the message as it is shown. */
    async send(name: string, content: object): Promise<Json> {
      const { app, inbox, emulator, advance } = whatsApp();
      await advance(10_000);
      const template = { name, language: "en", ...content };
      const input = { to: "+14155550123", type: "template" as const, template, inbox_id: inbox.id };
      const { data: sent } = await app.call(messages.send_message, input);
      await app.runDueJobs();
      const answer = await fetch(`${emulator.url}/emulator/messages?limit=1`);
      const [{ body }] = ((await answer.json()) as Json).data;
      const { data: message } = await app.call(messages.get_message, {
        conversation_id: sent.conversation_id,
        message_id: sent.id,
      });
      return { components: body.template.components, shown: message.template, status: message.status };
    },
  };
}
