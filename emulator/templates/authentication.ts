/** Authentication templates: their texts are Meta's own, with the code as the only variable. */
import { z } from "zod";
import type { TemplateButton, TemplateComponent } from "../state/template.ts";
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
  for (const button of buttons) {
    requireOtp(button);
  }
  const minutes = components.find(({ type }) => type === "FOOTER")?.code_expiration_minutes;
  if (
    minutes !== undefined &&
    !(Number.isInteger(minutes) && Number(minutes) >= 1 && Number(minutes) <= 90)
  ) {
    throw templateRule("code_expiration_minutes is from 1 to 90");
  }
  return components.map(complete);
}

const App = z.object({
  package_name: z.string().regex(/^[A-Za-z]\w*(\.[A-Za-z]\w*)+$/),
  // Of 11 characters, which may be percent-encoded.
  signature_hash: z.string().regex(/^(?:%[\dA-F]{2}|[^%]){11}$/i),
});

function requireOtp({ otp_type, supported_apps, zero_tap_terms_accepted, ...app }: TemplateButton): void {
  const apps = supported_apps ?? [app]; // its members, in the older form
  const kind = String(otp_type).toUpperCase();
  if (!["COPY_CODE", "ONE_TAP", "ZERO_TAP"].includes(kind)) {
    throw templateRule("otp_type is COPY_CODE, ONE_TAP or ZERO_TAP");
  }
  if (kind !== "COPY_CODE" && !z.array(App).min(1).max(5).safeParse(apps).success) {
    throw templateRule(
      `${kind} needs supported_apps with a package_name and a signature_hash of 11 characters`,
    );
  }
  if (kind === "ZERO_TAP" && zero_tap_terms_accepted !== true) {
    throw templateRule("ZERO_TAP needs zero_tap_terms_accepted");
  }
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
