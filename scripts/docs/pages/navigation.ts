/** Which pages there are, in the order in which they are listed. */
import { apiPages } from "./api/index.ts";

export interface PageSource {
  /** The Markdown file, from the top of the repository. */
  readonly file: string;
  /** The address below /docs/, without a suffix. */
  readonly path: string;
  /** The content, if it is made at build: there is no file. */
  readonly markdown?: string;
  /** What the navigation shows in place of the title. */
  readonly label?: string;
}

export interface PageGroup {
  readonly title: string;
  readonly pages: readonly PageSource[];
}

const group = (title: string, ...names: readonly string[]): PageGroup => ({
  title,
  pages: names.map((path) => ({ file: `docs/${path}.md`, path })),
});

export const groups: readonly PageGroup[] = [
  {
    title: "Start",
    pages: [
      { file: "README.md", path: "start" },
      { file: "docs/first-bot.md", path: "first-bot" },
    ],
  },
  group(
    "Guides",
    "api",
    "contacts",
    "messages",
    "teams",
    "console",
    "webhooks",
    "files",
    "templates",
    "broadcasts",
    "cohorts",
    "flows",
  ),
  group(
    "Assistants and answers",
    "assistants",
    "plans",
    "approvals",
    "budgets",
    "activity",
    "knowledge-base",
    "chatbot",
  ),
  group("Channels", "simulated-channel", "whatsapp", "whatsapp-examples", "whatsapp-emulator"),
  group("Money", "wallet", "payments", "billing", "pricing", "prices"),
  group(
    "Operation",
    "production",
    "operations",
    "runbook",
    "backup",
    "upgrading",
    "sizing",
    "operator",
    "command-line",
  ),
  group(
    "Reference",
    "reference/operations",
    "reference/errors",
    "reference/events",
    "reference/scopes",
    "reference/hints",
    "reference/settings",
    "reference/metrics",
    "reference/commands",
  ),
  {
    title: "API",
    pages: apiPages.map(({ resource, markdown }) => {
      const path = `reference/api/${resource}`;
      return { file: `docs/${path}.md`, path, markdown, label: resource };
    }),
  },
];

/** Pages for who reads or changes the code: they are not served. */
export const unserved: readonly string[] = ["docs/architecture.md", "docs/decisions.md"];

/** The sections of README.md that are about the repository. */
export const unservedSections: readonly string[] = ["Test it", "Documentation"];
