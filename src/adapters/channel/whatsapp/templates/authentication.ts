/** Templates for codes: their texts are WhatsApp's own, with the code as the only variable. */
import { z } from "zod";
import type { TemplateSubmission, TemplateVersion } from "../../../../ports/channel/template-authority.ts";
import type { ComponentDefinition } from "../contract.ts";

type TemplateData = TemplateVersion["template_data"];
type Authentication = NonNullable<TemplateData["authentication"]>;

/** The template of a submission in Meta's components, without texts. */
export function toAuthentication({
  button,
  add_security_recommendation,
  code_expiration_minutes,
  apps,
  zero_tap_terms_accepted,
}: NonNullable<TemplateSubmission["template_data"]["authentication"]>): readonly ComponentDefinition[] {
  const otp = {
    type: "OTP",
    otp_type: button.toUpperCase(),
    supported_apps: apps,
    zero_tap_terms_accepted: button === "zero_tap" ? zero_tap_terms_accepted : undefined,
  };
  return [
    { type: "BODY", add_security_recommendation },
    ...(code_expiration_minutes === undefined ? [] : [{ type: "FOOTER", code_expiration_minutes }]),
    { type: "BUTTONS", buttons: [otp] },
  ];
}

const Body = z.object({
  type: z.literal("BODY"),
  text: z.string(),
  add_security_recommendation: z.boolean().default(false),
});
const Footer = z.object({
  type: z.literal("FOOTER"),
  text: z.string().optional(),
  code_expiration_minutes: z.int().min(1).max(90).optional().catch(undefined),
});
const App = z.object({ package_name: z.string(), signature_hash: z.string() });
const Button = z.object({
  type: z.enum(["OTP", "URL"]),
  otp_type: z.string().optional(),
  url: z.string().optional(),
  supported_apps: z.array(App).optional(),
  zero_tap_terms_accepted: z.boolean().optional(),
});
const Buttons = z.object({ type: z.literal("BUTTONS"), buttons: z.array(Button).length(1) });

const Components = z.array(z.discriminatedUnion("type", [Body, Footer, Buttons]));

const buttons: Readonly<Record<string, Authentication["button"]>> = {
  COPY_CODE: "copy_code",
  ONE_TAP: "one_tap",
  ZERO_TAP: "zero_tap",
};

/** Null if it has no button for codes, or parts that are not known. */
export function fromAuthentication(
  components: unknown,
): Pick<TemplateVersion, "template_data" | "variables"> | null {
  const { data } = Components.safeParse(components);
  const body = data?.find((one) => one.type === "BODY");
  const footer = data?.find((one) => one.type === "FOOTER");
  const [otp] = data?.find((one) => one.type === "BUTTONS")?.buttons ?? [];
  const button = otp && buttons[typeOf(otp)];
  if (!body || !button) {
    return null;
  }
  const { code_expiration_minutes } = footer ?? {};
  return {
    template_data: {
      body: body.text,
      ...(footer?.text === undefined ? {} : { footer: footer.text }),
      authentication: {
        button,
        add_security_recommendation: body.add_security_recommendation,
        ...(code_expiration_minutes === undefined ? {} : { code_expiration_minutes }),
        ...(otp.supported_apps ? { apps: otp.supported_apps } : {}),
        ...(otp.zero_tap_terms_accepted === undefined
          ? {}
          : { zero_tap_terms_accepted: otp.zero_tap_terms_accepted }),
      },
    },
    variables: [{ name: "code", component: "BODY", example: "123456" }],
  };
}

/** Meta shows an approved button with the address in which WhatsApp puts the code. */
function typeOf({ otp_type, url = "" }: z.output<typeof Button>): string {
  const ofAddress = URL.canParse(url) ? new URL(url).searchParams.get("otp_type") : null;
  return (otp_type ?? ofAddress ?? "").toUpperCase();
}
