/** docs/reference/hints.md: the hints of every tool, with the reason of each. */
import { operationsOf } from "../../src/platform/index.ts";
import { describeTools, type Hint } from "../../tools/contract/index.ts";
import { code, type Page, table } from "./markdown.ts";

export function hintsPage(): Page {
  const tools = describeTools(operationsOf());
  const reads = tools.filter(({ hints }) => hints.readOnly.is);
  const writes = tools.filter(({ hints }) => !hints.readOnly.is);
  const rows = writes.map(({ name, hints: { destructive, idempotent, openWorld } }) => [
    code(name),
    ...[destructive, idempotent, openWorld].map(describe),
  ]);
  const body = `# Hints

The hints of each tool (\`annotations\` in the list of tools), from which a host decides whether to ask the user first.

- **Destructive**: the call can't be undone, or it sends something out of the organization. An update that another update takes back is not destructive.
- **Idempotent**: a second call with the same arguments changes nothing more.
- **Open world**: the call reaches systems or people outside this service.

${table(["Tool", "Destructive", "Idempotent", "Open world"], rows)}

These tools only read (\`readOnlyHint\`). They are idempotent, not destructive, and reach nothing outside this service: ${reads.map(({ name }) => code(name)).join(", ")}.`;
  return { source: "tools/", body };
}

function describe({ is, because }: Hint): string {
  return `${is ? "**Yes**" : "No"}. ${because}`;
}
