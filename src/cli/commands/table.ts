/** The table of commands. Each loads its code only when it runs, which keeps the start short. */

import { emulatorOptions, readEmulatorOptions } from "../emulator/options.ts";
import { backupCommands } from "../manage/backup/commands.ts";
import { manageCommands } from "../manage/commands.ts";
import { mcpOptions, readChannelCohort } from "../mcp/options.ts";
import { type Commands, meanings } from "./command.ts";

const programs: Commands = {
  serve: {
    summary: "Serve REST (/v1) and MCP (/mcp) over HTTP.",
    options: {
      port: "Port that the service listens on, instead of PORT; 0 selects any free port.",
      host: "Address that the service listens on, instead of HOST.",
      "data-dir": meanings.dataDir,
      "stop-with-parent": "Stop when the process that started it has ended, as npm start needs.",
    },
    notes: [
      "It uses the embedded database in the data folder or, if DATABASE_URL is set, PostgreSQL. The first start prints an API key and the owner's password.",
    ],
    run: async (options) => (await import("../serve/serve.ts")).runServe(options),
  },
  mcp: {
    summary: "Serve MCP on stdin and stdout.",
    options: { ...mcpOptions, "data-dir": meanings.dataDir },
    notes: [
      "With TIDINGS_BASE_URL and TIDINGS_API_KEY it forwards to that service; without them it runs the embedded one and shares it with other processes.",
      "docs/assistants.md describes channels and the settings.",
    ],
    async run(options) {
      const cohort = readChannelCohort(options);
      await (await import("../mcp/mcp.ts")).runMcp(options, cohort);
    },
  },
  "install-links": {
    summary: "Print links that install the MCP server in VS Code, Cursor and LM Studio on this machine.",
    options: { "data-dir": meanings.dataDir, json: meanings.json },
    notes: [
      "Each has the command of tidings mcp with the paths of this machine. With TIDINGS_BASE_URL or DATABASE_URL it forwards to the service, and the client needs an API key, which no link has.",
    ],
    run: async (options) => (await import("../mcp/install-links.ts")).runInstallLinks(options),
  },
  doctor: {
    summary: "Check the settings, the disk, the database, the port, inboxes and webhooks; changes nothing.",
    options: {
      deep: "Read every page of every table and index too, and compare indexes with their tables.",
      "data-dir": meanings.dataDir,
      json: meanings.json,
    },
    notes: [
      "Each line is ok, a warning or a problem, with what to do about it. The exit code is 1 if there is a problem. With TIDINGS_BASE_URL it checks that service alone.",
      "The running service asks the channel of each of the first 20 inboxes whether it accepts the inbox.",
      "--deep needs a superuser of PostgreSQL for the indexes. An embedded database is opened, or copied if a service has it open.",
    ],
    run: async (options) => (await import("../doctor/doctor.ts")).runDoctor(options),
  },
  "whatsapp-emulator": {
    summary: "Emulate the WhatsApp Cloud API for development and tests. Everything is in memory.",
    options: emulatorOptions,
    notes: ["docs/whatsapp-emulator.md describes what it emulates, and its controls under /emulator."],
    async run(options) {
      const settings = readEmulatorOptions(options);
      await (await import("../emulator/whatsapp-emulator.ts")).runWhatsappEmulator(settings);
    },
  },
};

const clientCommands: Commands = {
  send: {
    summary: "Send a text message to a phone number, and wait up to 10 seconds for its delivery.",
    arguments: ["to", "text"],
    options: { "data-dir": meanings.dataDir, json: meanings.json },
    notes: ["The exit code is 1 if the message has failed, and 0 if it still waits."],
    run: async (options, [to = "", text = ""]) =>
      (await import("../remote/send.ts")).runSend(options, to, text),
  },
  inbound: {
    summary: "Write as a customer to a simulated inbox.",
    arguments: ["from", "text"],
    options: {
      inbox: "Phone number of the simulated inbox. Default: the first one.",
      name: "Name of the customer.",
      "data-dir": meanings.dataDir,
      json: meanings.json,
    },
    notes: ["A real inbox is refused. With TIDINGS_SIMULATOR=off the service refuses it too."],
    run: async (options, [from = "", text = ""]) =>
      (await import("../remote/inbound.ts")).runInbound(options, from, text),
  },
  logs: {
    summary: "Print the recent events of the organization, oldest first, one a line.",
    options: {
      follow: "Also print the events that come, until it is stopped. It waits while the service restarts.",
      since: "How far to look back: a duration such as 30m, 2h or 7d, or a time. Default: 1h.",
      events: meanings.events,
      "data-dir": meanings.dataDir,
      json: "Print each event as a line of JSON, with its data.",
    },
    run: async (options) => (await import("../remote/logs.ts")).runLogs(options),
  },
  explain: {
    summary: "Print why a message was sent and what happened to it: call, money, receipts, webhooks.",
    arguments: ["message-id"],
    options: { "data-dir": meanings.dataDir, json: meanings.json },
    notes: ["The ids are printed by tidings send and tidings logs."],
    run: async (options, [id = ""]) => (await import("../remote/explain.ts")).runExplain(options, id),
  },
  listen: {
    summary: "Forward the organization's events to a program under development, in the form of webhooks.",
    options: {
      "forward-to": "Where the events go, for example http://127.0.0.1:4000/hooks. Required.",
      events: meanings.events,
      "new-secret": "Replace the signing secret, which otherwise stays in the data folder.",
      "data-dir": meanings.dataDir,
    },
    run: async (options) => (await import("../remote/listen.ts")).runListen(options),
  },
  trigger: {
    summary: "Send an example of an event to the webhooks that subscribe to it, or to a program.",
    arguments: ["event"],
    options: {
      "forward-to":
        "Send it there instead, signed as by tidings listen, for example to http://127.0.0.1:4000/hooks.",
      "data-dir": meanings.dataDir,
      json: meanings.json,
    },
    notes: [
      "The event has the ids of an example, its own id begins with evt_test_, and its data has test: true. No inbox sends anything. The exit code is 1 unless each receiver accepts it.",
      "The service sends it to the active webhooks of the organization, unless an inbox of the organization is real. With --forward-to it needs no service.",
    ],
    run: async (options, [event = ""]) => (await import("../remote/trigger.ts")).runTrigger(options, event),
  },
  "whatsapp connect": {
    summary: "Set up a WhatsApp inbox at Meta step by step, and create it first if there is none.",
    options: {
      "phone-number":
        "Number of the inbox, for example +14155550100. Default: the organization's only WhatsApp inbox.",
      name: "Name of a new inbox. Default: WhatsApp.",
      "phone-number-id": "Id of the number at Meta, for a new inbox or for other credentials.",
      "waba-id": "Id of its WhatsApp Business Account, likewise.",
      "app-id": "Id of the app at Meta, likewise.",
      "replace-callback": "Take the app's reports away from another address.",
      stdin: 'Read the secrets from stdin, as JSON: {"app_secret", "access_token", "pin"}.',
      "data-dir": meanings.dataDir,
      json: meanings.json,
    },
    notes: [
      "Each step is checked, and done if it is missing: the app, the token and its permissions, the number, its account, the webhook of the app, the subscription to the account, and the registration of the number with its PIN. It can be repeated. The exit code is 1 if a step fails.",
      "An inbox that exists is connected with its stored credentials, unless the three ids are given. Secrets come from TIDINGS_WHATSAPP_APP_SECRET, TIDINGS_WHATSAPP_ACCESS_TOKEN and TIDINGS_WHATSAPP_PIN, from stdin, or are asked for at a terminal; they are never printed.",
    ],
    run: async (options) => (await import("../remote/whatsapp-connect.ts")).runWhatsAppConnect(options),
  },
  "inboxes list": {
    summary: "List the inboxes of the organization, with their health.",
    options: { "data-dir": meanings.dataDir, json: meanings.json },
    run: async (options) => (await import("../remote/inboxes.ts")).runListInboxes(options),
  },
  "inboxes show": {
    summary: "Show an inbox, with its health and its limits at the channel.",
    arguments: ["inbox id"],
    options: { "data-dir": meanings.dataDir, json: meanings.json },
    run: async (options, [id = ""]) => (await import("../remote/inboxes.ts")).runShowInbox(options, id),
  },
};

/** A part of the list of commands. */
export interface CommandGroup {
  readonly title: string;
  /** What holds for all of them, also in the help of each. */
  readonly note?: string;
  readonly commands: Commands;
}

export const commandGroups: readonly CommandGroup[] = [
  { title: "Run the service", commands: programs },
  {
    title: "Use a running service",
    note: "Uses the service at TIDINGS_BASE_URL with TIDINGS_API_KEY or, without them, the one of this machine.",
    commands: clientCommands,
  },
  {
    title: "Manage organizations, keys and users",
    note: "Works on the machine of the service, while it runs or not: on DATABASE_URL or in TIDINGS_DATA_DIR.",
    commands: manageCommands,
  },
  {
    title: "Back up and restore",
    note: "Works on the machine of the service: on DATABASE_URL or in TIDINGS_DATA_DIR. docs/backup.md has the steps.",
    commands: backupCommands,
  },
];

export const commands: Commands = Object.assign({}, ...commandGroups.map((group) => group.commands));
