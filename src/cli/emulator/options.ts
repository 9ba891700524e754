/** The options of `tidings whatsapp-emulator`. */
import { UsageError } from "../commands/command-error.ts";
import type { CommandOptions } from "../commands/options.ts";

export const emulatorOptions = {
  port: "Default: 4004. 0 takes a free one.",
  host: "Default: 127.0.0.1. It has no access control beyond the tokens of the Graph API: do not open it to a network that you do not trust.",
  "public-url": "How clients reach it, if not by host and port.",
  "callback-url": "Where webhooks go. It must run already: it is verified at the start.",
  "phone-number": "Of the business. Default: +15550783881.",
  "access-token": "Default: EAAemulator.",
  "app-secret": "Signs the webhooks. Default: 0123456789abcdef0123456789abcdef.",
  "verify-token": "Default: emulator-verify-token.",
  "messages-per-second": "More are refused with the code 130429. Default: 80.",
} as const;

type EmulatorOption = keyof typeof emulatorOptions;
type EmulatorArguments = Pick<CommandOptions, EmulatorOption>;

const maxPort = 65_535;

/** @throws UsageError */
export function readEmulatorOptions(given: EmulatorArguments) {
  const digits = given["phone-number"]?.replace(/[\s()+-]/g, "");
  if (digits !== undefined && !/^[1-9]\d{4,14}$/.test(digits)) {
    throw new UsageError("--phone-number takes a number with its country code, for example +15550783881.");
  }
  return {
    port: readInteger(given, "port", maxPort) ?? 4004,
    host: given.host ?? "127.0.0.1",
    public_url: readUrl(given, "public-url"),
    callback_url: readUrl(given, "callback-url"),
    ...withoutUndefined({
      phone_number: digits,
      access_token: given["access-token"],
      app_secret: given["app-secret"],
      verify_token: given["verify-token"],
      messages_per_second: readInteger(given, "messages-per-second", 100_000),
    }),
  };
}

function readInteger(given: EmulatorArguments, name: EmulatorOption, max: number): number | undefined {
  const text = given[name];
  if (text !== undefined && !(/^\d{1,6}$/.test(text) && Number(text) <= max)) {
    throw new UsageError(`--${name} takes a whole number from 0 to ${max}.`);
  }
  return text === undefined ? undefined : Number(text);
}

function readUrl(given: EmulatorArguments, name: EmulatorOption): string | undefined {
  const text = given[name];
  if (text !== undefined && !(URL.canParse(text) && /^https?:$/.test(new URL(text).protocol))) {
    throw new UsageError(`--${name} takes an address, for example http://127.0.0.1:3000/webhook.`);
  }
  return text?.replace(/\/$/, "");
}

type DefinedFields<Fields> = { readonly [Name in keyof Fields]?: NonNullable<Fields[Name]> };

/** Drops undefined options, which must not replace their defaults. */
function withoutUndefined<Fields extends object>(fields: Fields): DefinedFields<Fields> {
  // The remaining members have the type's values.
  return Object.fromEntries(
    Object.entries(fields).filter(([, value]) => value !== undefined),
  ) as DefinedFields<Fields>;
}
