/** The link that `tidings serve` prints at the first start, by which the owner signs in to the console. */
import { type Config, isForThisMachine } from "../../config/index.ts";
import type { Log } from "../../ports/telemetry/log.ts";
import type { DataFolder } from "../data-folder/data-folder.ts";
import { describeLink, requestSignInLink, toLink } from "../manage/console.ts";
import { sendCommand } from "../manage/send.ts";

/**
 * Whether the output is read by the person at this machine alone. Otherwise it may be a log, or others may
 * reach the service through a proxy.
 */
export function mayPrintLink(
  config: Pick<Config, "host" | "publicUrl" | "trustedProxies">,
  isTerminal: boolean,
): boolean {
  return isTerminal && isForThisMachine(config);
}

/** The text with the link; undefined if it can't be made, because the service runs all the same. */
export async function createOwnerLink(
  address: string,
  folder: DataFolder,
  log: Log,
): Promise<string | undefined> {
  try {
    const link = await requestSignInLink((command, input) =>
      sendCommand(address, folder, { command, input }),
    );
    return describeLink(toLink(address, link), link.user).join("\n");
  } catch (error) {
    log.warn({ err: error }, "could not make a link to sign in: tidings console makes one");
    return undefined;
  }
}
