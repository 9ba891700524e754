/** `tidings whatsapp connect`: sets up a WhatsApp inbox at Meta, and creates it first if there is none. */
import { randomBytes } from "node:crypto";
import type { OutputOf } from "../../../tools/contract/index.ts";
import { inboxes, type WhatsAppCredentials } from "../../../tools/inboxes.ts";
import type { Client } from "../../client/index.ts";
import { readConfig } from "../../config/index.ts";
import { CommandError, UsageError } from "../commands/command-error.ts";
import { type CommandOptions, settingsOf } from "../commands/options.ts";
import { describeTable, print } from "../commands/print.ts";
import { withClient } from "./connect.ts";
import { ask, canAsk, readSecretsFromStdin, type Secrets } from "./read-secrets.ts";

type Inbox = OutputOf<typeof inboxes.list_inboxes>["data"][number];
type Connection = OutputOf<typeof inboxes.connect_inbox>["data"];

const idOptions = ["phone-number-id", "waba-id", "app-id"] as const;

/** @throws CommandError if a step failed, after the steps were printed. */
export async function runWhatsAppConnect(options: CommandOptions): Promise<void> {
  const secrets = await readSecrets(options);
  const connection = await withClient(options, "whatsapp connect", async (client) => {
    const id = await findOrCreate(client, options, secrets);
    return connect(client, { id, pin: secrets.pin, replace_callback: options["replace-callback"] ?? false });
  });
  print(options.json, connection, () => [...describeSteps(connection), ...describeFixes(connection)]);
  if (!connection.ok) {
    const failed = connection.steps.filter(({ state }) => state === "failed").map(({ name }) => name);
    throw new CommandError(`Not connected: ${failed.join(", ")} failed.`, {
      facts: { code: "connection_failed", failed },
    });
  }
}

async function readSecrets(options: CommandOptions): Promise<Secrets> {
  const { config } = readConfig(undefined, settingsOf(options));
  return { ...config.whatsappSecrets, ...(options.stdin ? await readSecretsFromStdin() : {}) };
}

/** The id of the inbox, which has the given credentials. */
async function findOrCreate(client: Client, options: CommandOptions, secrets: Secrets): Promise<string> {
  const { data } = await client.call(inboxes.list_inboxes, {});
  const inbox = findInbox(data, options["phone-number"]);
  const hasIds = idOptions.some((name) => options[name] !== undefined);
  if (inbox && !hasIds) {
    return inbox.id;
  }
  const phone_number =
    inbox?.phone_number ?? (await need(options["phone-number"], "Phone number", "--phone-number"));
  const credentials = await readCredentials(options, secrets);
  if (inbox) {
    return (await client.call(inboxes.update_inbox, { id: inbox.id, credentials })).data.id;
  }
  const { name = "WhatsApp" } = options;
  const created = { name, channel: "whatsapp", phone_number, credentials } as const;
  return (await client.call(inboxes.create_inbox, created)).data.id;
}

/** @throws UsageError if the number is of a simulated inbox, or none is given and there are several. */
function findInbox(list: readonly Inbox[], phone_number: string | undefined): Inbox | undefined {
  const ofWhatsApp = list.filter(({ channel }) => channel === "whatsapp");
  if (phone_number === undefined) {
    if (ofWhatsApp.length > 1) {
      const numbers = ofWhatsApp.map((inbox) => inbox.phone_number).join(", ");
      throw new UsageError(`There are several WhatsApp inboxes. Give --phone-number: ${numbers}.`);
    }
    return ofWhatsApp[0];
  }
  const digits = phone_number.replace(/\D/g, "");
  const found = list.find((inbox) => inbox.phone_number.replace(/\D/g, "") === digits);
  if (found && found.channel !== "whatsapp") {
    throw new UsageError(
      `The inbox ${found.phone_number} is of the channel ${found.channel}, not of WhatsApp.`,
    );
  }
  return found;
}

async function readCredentials(options: CommandOptions, secrets: Secrets): Promise<WhatsAppCredentials> {
  const [appSecret, accessToken] = ["TIDINGS_WHATSAPP_APP_SECRET", "TIDINGS_WHATSAPP_ACCESS_TOKEN"];
  return {
    phone_number_id: await need(options["phone-number-id"], "Phone number ID", "--phone-number-id"),
    waba_id: await need(options["waba-id"], "WhatsApp Business Account ID", "--waba-id"),
    app_id: await need(options["app-id"], "App ID", "--app-id"),
    app_secret: await need(secrets.app_secret, "App secret", appSecret, { isSecret: true }),
    access_token: await need(secrets.access_token, "Access token", accessToken, { isSecret: true }),
    // Meta gets it from this service, so nobody has to know it.
    verify_token: randomBytes(24).toString("base64url"),
  };
}

/** The value, or what is typed. @throws UsageError where nobody can type it. */
async function need(
  value: string | undefined,
  name: string,
  source: string,
  { isSecret }: { readonly isSecret: boolean } = { isSecret: false },
): Promise<string> {
  if (value !== undefined) {
    return value;
  }
  if (!canAsk()) {
    throw new UsageError(
      `${name} is missing: ${isSecret ? `set ${source}, or use --stdin` : `give ${source}`}. See --help.`,
    );
  }
  return ask(name, { isSecret });
}

interface ConnectInput {
  readonly id: string;
  readonly pin: string | undefined;
  readonly replace_callback: boolean;
}

/** A PIN is asked for only if the number is not registered. */
async function connect(client: Client, input: ConnectInput): Promise<Connection> {
  const { data } = await client.call(inboxes.connect_inbox, input);
  const isUnregistered = data.steps.some(({ name, state }) => name === "registration" && state === "failed");
  if (!isUnregistered || input.pin !== undefined || !canAsk()) {
    return data;
  }
  const question = "The number is not registered. PIN of its two-step verification, or 6 new digits";
  const pin = await ask(question, { isSecret: true });
  return (await client.call(inboxes.connect_inbox, { ...input, pin })).data;
}

/** Texts of Meta could have control characters for the terminal. */
function printable(text: string): string {
  return text.replace(/\p{Cc}/gu, " ");
}

function describeSteps({ steps }: Connection): string[] {
  return describeTable(
    ["STEP", "STATE", "RESULT"],
    steps.map(({ name, state, detail }) => [name, state, printable(detail)]),
  );
}

function describeFixes({ steps }: Connection): string[] {
  const fixes = steps.flatMap(({ name, fix }) => (fix === null ? [] : [`${name}: ${fix}`]));
  return fixes.length > 0 ? ["", "What to do:", ...fixes.map((fix) => `  ${fix}`)] : [];
}
