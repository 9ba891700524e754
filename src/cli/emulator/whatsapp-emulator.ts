/**
 * `tidings whatsapp-emulator`: starts the emulator of the WhatsApp Cloud API and prints what a client needs.
 */
import { startEmulator } from "../../../emulator/index.ts";
import type { readEmulatorOptions } from "./options.ts";

export async function runWhatsappEmulator(options: ReturnType<typeof readEmulatorOptions>): Promise<void> {
  const emulator = await startEmulator(options);
  const { settings, url } = emulator;
  const stop = () => {
    emulator[Symbol.asyncDispose]().then(
      () => process.exit(0),
      (error: unknown) => {
        console.error(error);
        process.exit(1);
      },
    );
  };
  process.on("SIGINT", stop);
  process.on("SIGTERM", stop);
  console.log(`WhatsApp Cloud API emulator

  Graph API        ${url}/v25.0
  Controls         ${url}/emulator
  phone_number_id  ${settings.phone_number_id}
  phone number     +${settings.phone_number}
  waba_id          ${settings.waba_id}
  app_id           ${settings.app_id}
  access_token     ${settings.access_token}
  app_secret       ${settings.app_secret}
  verify_token     ${settings.verify_token}
  webhooks         ${options.callback_url ?? "no callback address: set one under Controls"}

Press Ctrl+C to stop. Nothing is kept.`);
}
