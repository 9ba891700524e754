/** docs/reference/errors.md: every error code, by status. */
import { type ErrorCode, errors } from "../../tools/errors.ts";
import { code, type Page, table } from "./markdown.ts";

export function errorsPage(): Page {
  const entries = Object.entries(errors);
  const statuses = [...new Set(entries.map(([, { status }]) => status))].sort((a, b) => a - b);
  const sections = statuses.map((status) => {
    const rows = entries
      .filter(([, entry]) => entry.status === status)
      .map(([name]) => row(name as ErrorCode));
    return `## ${status}\n\n${table(["Code", "Type", "Message", "What to do"], rows)}`;
  });
  const body = `# Errors

Every error has the envelope that [api.md](../api.md#errors) describes. \`code\` is stable: compare it, not the message. Words in braces are filled in from the request.

${sections.join("\n\n")}`;
  return { source: "tools/errors.ts", body };
}

function row(name: ErrorCode): string[] {
  const { type, message, fix } = errors[name];
  return [code(name), code(type), message, fix];
}
