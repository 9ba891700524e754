/** Authentication templates: their texts are Meta's own, with the code as the only variable. */
import type { TemplateComponent } from "../state/template.ts";
import { typeOf } from "./buttons.ts";
import { templateRule } from "./template-error.ts";

/** @returns the components with the texts and the address of the button that Meta adds; @throws GraphError */
export function completeAuthentication(components: readonly TemplateComponent[]): TemplateComponent[] {
  if (components.some(({ type, text }) => type === "HEADER" || (type !== "BUTTONS" && text !== undefined))) {
    throw templateRule("Authentication templates have fixed texts: send no header and no text");
  }
  const buttons = components.find(({ type }) => type === "BUTTONS")?.buttons ?? [];
  if (buttons.length !== 1 || !buttons.every((button) => typeOf(button) === "OTP")) {
    throw templateRule("Authentication templates need one OTP button");
  }
  return components.map(complete);
}

function complete(component: TemplateComponent): TemplateComponent {
  const { type, add_security_recommendation, code_expiration_minutes, buttons } = component;
  if (type === "BODY") {
    const advice = add_security_recommendation ? " For your security, do not share this code." : "";
    return { ...component, text: `*{{1}}* is your verification code.${advice}` };
  }
  if (type === "FOOTER") {
    return { ...component, text: `This code expires in ${code_expiration_minutes} minutes.` };
  }
  return {
    ...component,
    buttons: (buttons ?? []).map(({ otp_type = "COPY_CODE", text = "Copy code", ...rest }) => ({
      ...rest,
      type: "URL",
      otp_type,
      text,
      url: `https://www.whatsapp.com/otp/code/?otp_type=${otp_type}&code=otp{{1}}`,
    })),
  };
}
