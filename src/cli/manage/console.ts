/** `tidings console`: prints a link that signs a person in to the console. */
import { z } from "zod";
import { toAddress } from "../address.ts";
import type { CommandOptions } from "../commands/options.ts";
import { print } from "../commands/print.ts";
import { provesItself } from "../data-folder/verify-server.ts";
import { type CommandSender, type CommandService, withService } from "./send.ts";

/** The response of the service. */
const SignInLink = z.object({
  token: z.string(),
  expires_at: z.string(),
  /** Of the process that runs the command. */
  address: z.string(),
  user: z.object({ id: z.string(), organization_id: z.string(), email: z.string(), role: z.string() }),
});

type SignInLink = z.infer<typeof SignInLink>;

export async function runConsole(options: CommandOptions): Promise<void> {
  const { user: email } = options;
  const { url, expires_at, user } = await withService(options, async (send, service) => {
    // Found before the link is made, so that no link is left if there is no address.
    const own = service.runsElsewhere ? undefined : await findAddress(service);
    const link = await requestSignInLink(send, email);
    return { ...link, url: toLink(own ?? link.address, link) };
  });
  print(options.json, { url, expires_at, user }, () => describeLink(url, user));
}

export async function requestSignInLink(send: CommandSender, user?: string): Promise<SignInLink> {
  return SignInLink.parse(await send("create-sign-in-link", { user }));
}

/** The token is in the fragment, which browsers send to no server. */
export function toLink(address: string, { token }: Pick<SignInLink, "token">): string {
  return `${address}/console/#login=${token}`;
}

export function describeLink(url: string, { email }: { readonly email: string }): string[] {
  return [`Open this link to sign in as ${email}. It works once, within 10 minutes.`, "", `  ${url}`];
}

/**
 * The address of the service that other processes run, as far as the settings say it. Says on stderr if none
 * answers there.
 */
async function findAddress({ config, folder }: CommandService): Promise<string> {
  const { publicUrl, host, port } = config;
  if (publicUrl !== undefined) {
    return publicUrl;
  }
  if (port === 0) {
    throw new Error("The port of the service is not known. Set PORT to it, or TIDINGS_PUBLIC_URL.");
  }
  const address = toAddress(host, port);
  if (!(await provesItself(address, await folder.credential()))) {
    console.error(
      `tidings: No service of this data folder answers at ${address}. Start it with tidings serve, or set PORT to its port.`,
    );
  }
  return address;
}
