/** The account of a WhatsApp number at Meta. */
import { z } from "zod";
import type { AccountReading, ChannelAccount } from "../../../ports/channel/account.ts";

const Credentials = z.object({
  phone_number_id: z.string(),
  /** Of its WhatsApp Business Account. */
  waba_id: z.string(),
  app_id: z.string(),
  access_token: z.string(),
  app_secret: z.string(),
  verify_token: z.string(),
});
export type WhatsAppAccount = z.output<typeof Credentials>;

/** Several numbers belong to one WhatsApp Business Account, and an app reports those of several. */
export function readWhatsAppAccount(given: unknown): AccountReading {
  const { data: credentials, error } = Credentials.safeParse(given);
  if (error) {
    const [issue] = error.issues;
    return { outcome: "invalid", field: issue?.path.join(".") ?? "", reason: issue?.message ?? "" };
  }
  const { phone_number_id: account_id, waba_id: business_id, app_id } = credentials;
  return { outcome: "read", account: { account_id, business_id, app_id, credentials } };
}

export function toWhatsAppAccount({ credentials }: ChannelAccount): WhatsAppAccount {
  return Credentials.parse(credentials);
}
