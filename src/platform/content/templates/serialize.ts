/** A template as the contract shows it. */
import { readOnlyParts } from "../../../../tools/templates/index.ts";
import { lintTemplate } from "./lint.ts";
import { isSendable, type TemplateRow } from "./states.ts";

export function serializeTemplate<Row extends TemplateRow>(row: Row) {
  const is_read_only = readOnlyParts(row.template_data).length > 0;
  // What can't be changed here needs no advice.
  const found = is_read_only ? [] : lintTemplate(row);
  const warnings = found.map(({ code, field, message }) => ({ code, field, message }));
  return { ...row, is_sendable: isSendable(row), is_read_only, warnings };
}
