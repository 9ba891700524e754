/** A template as the contract shows it. */
import { lintTemplate } from "./lint.ts";
import { isSendable, type TemplateRow } from "./states.ts";

export function serializeTemplate<Row extends TemplateRow>(row: Row) {
  const warnings = lintTemplate(row).map(({ code, field, message }) => ({ code, field, message }));
  return { ...row, is_sendable: isSendable(row), warnings };
}
