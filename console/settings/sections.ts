/** The sections of the settings: their addresses, who may read them, and what shows them. */
import type { ComponentType } from "preact";
import type { Scope } from "../../tools/contract/index.ts";
import { holdsScope } from "../session/session.ts";
import { texts } from "../texts.ts";
import type { SectionProps } from "./section-props.ts";

interface SettingsSection {
  /** Its place below /console/settings/. */
  readonly path: string;
  readonly title: string;
  /** Whoever has it may read the section; null: everybody. */
  readonly scope: Scope | null;
  readonly load: () => Promise<ComponentType<SectionProps>>;
}

/** In the order of the navigation. */
const sections: readonly SettingsSection[] = [
  {
    path: "assistant",
    title: texts.settings.assistant.title,
    scope: "tokens:create",
    load: async () => (await import("./assistant/settings-assistant.tsx")).SettingsAssistant,
  },
  {
    path: "keys",
    title: texts.settings.keys.title,
    scope: "tokens:create",
    load: async () => (await import("./keys/settings-keys.tsx")).SettingsKeys,
  },
  {
    path: "rules",
    title: texts.settings.everybody.title,
    scope: "tokens:create",
    load: async () => (await import("./rules/settings-rules.tsx")).SettingsRules,
  },
  {
    path: "organization",
    title: texts.settings.organization.title,
    scope: null,
    load: async () => (await import("./organization/settings-organization.tsx")).SettingsOrganization,
  },
  {
    path: "inboxes",
    title: texts.channels.inboxes.title,
    scope: "inbox:read",
    load: async () => (await import("./inboxes/settings-inboxes.tsx")).SettingsInboxes,
  },
  {
    path: "people",
    title: texts.people.title,
    scope: "inbox:read",
    load: async () => (await import("./people/settings-people.tsx")).SettingsPeople,
  },
  {
    path: "teams",
    title: texts.teams.title,
    scope: "inbox:read",
    load: async () => (await import("./teams/settings-teams.tsx")).SettingsTeams,
  },
  {
    path: "routing",
    title: texts.routing.title,
    scope: "inbox:read",
    load: async () => (await import("./routing/settings-routing.tsx")).SettingsRouting,
  },
  {
    path: "account",
    title: texts.account.title,
    scope: null,
    load: async () => (await import("../session/account.tsx")).SettingsAccount,
  },
];

/** The sections that the signed-in person may read. */
export function readableSections(): readonly SettingsSection[] {
  return sections.filter(({ scope }) => scope === null || holdsScope(scope));
}
