/** The commands by which the operator manages organizations, keys and users on the machine of the service. */
import { type Commands, meanings } from "../commands/command.ts";

const { json, organization } = meanings;
const common = { "data-dir": meanings.dataDir, json };

export const manageCommands: Commands = {
  "orgs create": {
    summary: "Create an organization with its owner and an API key. Password and key are printed once.",
    options: {
      name: "Name of the organization. Required.",
      "owner-email": "E-mail address of the owner, who signs in with it. Required.",
      "owner-name": "Name of the owner. Required.",
      "time-zone": "For example Europe/Berlin. Default: UTC.",
      "default-country": "Country of phone numbers without a country code, for example DE. Default: none.",
      currency: "For example EUR. Default: USD.",
      ...common,
    },
    run: async (options) => (await import("./orgs.ts")).runCreateOrganization(options),
  },
  "orgs list": {
    summary: "List the organizations, the newest first.",
    options: { search: "Only names that contain this.", status: "Only active or suspended ones.", ...common },
    run: async (options) => (await import("./orgs.ts")).runListOrganizations(options),
  },
  "orgs show": {
    summary: "Show an organization, with its status and the limits that it has of its own.",
    arguments: ["organization id"],
    options: common,
    run: async (options, [id = ""]) => (await import("./orgs.ts")).runShowOrganization(options, id),
  },
  "orgs suspend": {
    summary: "Suspend an organization: its credentials are rejected and its jobs wait until it is resumed.",
    arguments: ["organization id"],
    options: { reason: "Why; shown to the operator only. Required.", ...common },
    run: async (options, [id = ""]) => (await import("./orgs.ts")).runSuspendOrganization(options, id),
  },
  "orgs resume": {
    summary: "End the suspension of an organization.",
    arguments: ["organization id"],
    options: common,
    run: async (options, [id = ""]) => (await import("./orgs.ts")).runResumeOrganization(options, id),
  },
  "keys create": {
    summary: "Make an API key, for example when the first one is lost. The key is printed once.",
    options: {
      name: "Name of the key.",
      scopes: "Its scopes, separated by commas. Default: all.",
      "expires-in-days": "When it expires. Default: never.",
      organization,
      ...common,
    },
    run: async (options) => (await import("./keys.ts")).runCreateKey(options),
  },
  "keys list": {
    summary: "List the API keys of an organization, the newest first.",
    options: { organization, ...common },
    run: async (options) => (await import("./keys.ts")).runListKeys(options),
  },
  "keys revoke": {
    summary: "Revoke an API key: the next request that uses it is rejected.",
    arguments: ["key id"],
    options: { organization, ...common },
    run: async (options, [id = ""]) => (await import("./keys.ts")).runRevokeKey(options, id),
  },
  "users create": {
    summary: "Create a user who can sign in. The password is printed once.",
    options: {
      email: "E-mail address, used to sign in. Required.",
      name: "Name. Required.",
      role: "owner, admin, supervisor or agent. Default: agent.",
      organization,
      ...common,
    },
    run: async (options) => (await import("./users.ts")).runCreateUser(options),
  },
  "users list": {
    summary: "List the users of an organization, by name.",
    options: {
      search: "Only names and e-mail addresses that contain this.",
      role: "Only owner, admin, supervisor or agent.",
      organization,
      ...common,
    },
    run: async (options) => (await import("./users.ts")).runListUsers(options),
  },
  "users reset-password": {
    summary: "Give a user a new password, which is printed once, and end the user's sessions.",
    options: { email: "E-mail address of the user. Required.", ...common },
    run: async (options) => (await import("./users.ts")).runResetPassword(options),
  },
  console: {
    summary: "Print a link that signs a person in to the console, once and within 10 minutes.",
    options: {
      user: "E-mail address of the person. Default: the owner of the first start's organization.",
      ...common,
    },
    notes: [
      "The link leads to TIDINGS_PUBLIC_URL or, without it, to HOST and PORT. If that person is signed in already, that session goes on; another person's session ends if the person at the browser agrees. Who signs in by a link can't release plans.",
    ],
    run: async (options) => (await import("./console.ts")).runConsole(options),
  },
  upgrade: {
    summary: "Run the pending migrations of PostgreSQL, as the next start of the service would.",
    options: {
      check: "Run nothing: show each statement with the lock that it takes and the size of the table.",
      on: "Another database than that of DATABASE_URL, for example a restored copy, to see real times.",
      json,
    },
    run: async (options) => (await import("./upgrade.ts")).runUpgrade(options),
  },
};
