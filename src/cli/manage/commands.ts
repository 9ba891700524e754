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
  "users reset-password": {
    summary: "Give a user a new password, which is printed once, and end the user's sessions.",
    options: { email: "E-mail address of the user. Required.", ...common },
    run: async (options) => (await import("./users.ts")).runResetPassword(options),
  },
};
