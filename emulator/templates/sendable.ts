/** Finds the template of a message, which must be approved. */
import { GraphError, invalidParameter } from "../contract/graph-error.ts";
import { nodesOf, type Phone } from "../state/store.ts";
import type { Template, TemplateStatus } from "../state/template.ts";
import type { World } from "../world.ts";

/** These statuses say why a message cannot be sent; a template of another status counts as missing. */
const codes: Partial<Record<TemplateStatus, number>> = { PAUSED: 132015, DISABLED: 132016 };

/** @throws GraphError 132001 (HTTP 404), 132015, 132016 */
export function findSendableTemplate({ store }: World, phone: Phone, wanted: unknown): Template {
  const { name, language } = Object(wanted);
  const code = Object(language).code;
  if (typeof code !== "string") {
    throw invalidParameter("The parameter template['language']['code'] is required.");
  }
  const template = findTemplate(store, phone.account_id, { name: String(name), language: code });
  if (template?.status === "APPROVED") {
    return template;
  }
  throw new GraphError(
    (template && codes[template.status]) ?? 132001,
    `template name (${name}) ${template ? `is ${template.status.toLowerCase()}` : "does not exist"} in ${code}`,
  );
}

interface TemplateKey {
  readonly name: string;
  readonly language: string;
}

export function findTemplate(
  store: World["store"],
  accountId: string,
  { name, language }: TemplateKey,
): Template | undefined {
  return nodesOf(store, "template").find(
    (one) => one.account_id === accountId && one.name === name && one.language === language,
  );
}
