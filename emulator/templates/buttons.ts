/** The rules of a template's buttons. */
import type { TemplateButton } from "../state/template.ts";
import { templateError, templateRule } from "./template-error.ts";
import { variablesOf } from "./variables.ts";

const maxButtons = 10;
const maxOfType: Readonly<Record<string, number>> = {
  QUICK_REPLY: 10,
  URL: 2,
  PHONE_NUMBER: 1,
  COPY_CODE: 1,
  OTP: 1,
  FLOW: 1,
  CATALOG: 1,
  MPM: 1,
  VOICE_CALL: 1,
  REQUEST_CONTACT_INFO: 1,
};

/** @throws GraphError */
export function requireButtons(buttons: readonly TemplateButton[]): void {
  if (buttons.length > maxButtons) {
    throw templateRule(`A template has at most ${maxButtons} buttons`);
  }
  for (const button of buttons) {
    requireButton(button);
  }
  for (const [type, max] of Object.entries(maxOfType)) {
    if (buttons.filter((button) => typeOf(button) === type).length > max) {
      throw templateRule(`A template has at most ${max} ${type} button${max === 1 ? "" : "s"}`);
    }
  }
  // As one group: the list of "quick reply or not" changes at most once.
  const isReply = buttons.map((button) => typeOf(button) === "QUICK_REPLY");
  if (isReply.filter((value, index) => index > 0 && value !== isReply[index - 1]).length > 1) {
    throw templateRule("Quick replies must stand together, before or after the other buttons");
  }
}

export function typeOf({ type }: TemplateButton): string {
  return String(type).toUpperCase();
}

function requireButton(button: TemplateButton): void {
  const type = typeOf(button);
  const { text = "", url = "", example, phone_number } = button;
  if (!Object.hasOwn(maxOfType, type)) {
    throw templateRule(`There is no button type ${type}`);
  }
  if (text.length > 25) {
    throw templateError(2388040, "A button has more than 25 characters");
  }
  if (text === "" && ["QUICK_REPLY", "URL", "PHONE_NUMBER", "FLOW"].includes(type)) {
    throw templateRule(`A ${type} button needs a text`);
  }
  if (type === "PHONE_NUMBER" && !/^\+?\d{5,20}$/.test(phone_number ?? "")) {
    throw templateRule("A PHONE_NUMBER button needs a phone_number");
  }
  if (type === "COPY_CODE" && (typeof example !== "string" || example.length > 20)) {
    throw templateRule("A COPY_CODE button needs an example of at most 20 characters");
  }
  if (type === "URL") {
    requireUrl(url, example);
  }
}

function requireUrl(url: string, example: unknown): void {
  const variables = variablesOf(url);
  if (url.length > 2_000 || !/^https?:\/\//.test(url)) {
    throw templateRule("A URL button needs an http or https url of at most 2000 characters");
  }
  if (variables.length > 1 || (variables.length === 1 && !/\}\}$/.test(url))) {
    throw templateRule("The url of a button has at most one variable, at its end");
  }
  if (variables.length === 1 && (!Array.isArray(example) || example.length !== 1)) {
    throw templateRule("The variable of a url needs one sample in example");
  }
}
