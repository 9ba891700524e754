/** Connects a command to a running service, and explains why a call failed. */
import { CallFailure, type Client, createClient, NoResponseError } from "../../client/index.ts";
import { type Config, readConfig } from "../../config/index.ts";
import { toAddress } from "../address.ts";
import { CommandError, describeField, UsageError } from "../commands/command-error.ts";
import { type CommandOptions, settingsOf } from "../commands/options.ts";
import { findDataFolder } from "../data-folder/data-folder.ts";
import { createVerifier } from "../data-folder/verify-server.ts";
import { version } from "../version.ts";

export interface ServiceConnection {
  readonly client: Client;
  /** Where the service is or should be. */
  readonly description: string;
}

/**
 * Connects to the service in the settings; otherwise to the owner of the data folder, or to the service on
 * the port. Calls are not retried.
 *
 * @param command the name that the service logs.
 */
export async function connectToService(config: Config, command: string): Promise<ServiceConnection> {
  const { upstream, dataDir, host, port } = config;
  const settings = { userAgent: `tidings-${command}/${version}`, retries: 0 };
  if (upstream) {
    return { client: createClient({ ...settings, ...upstream }), description: upstream.baseUrl };
  }
  const folder = await findDataFolder(dataDir);
  const verify = createVerifier(folder);
  const defaultUrl = toAddress(host, port);
  const client = createClient({
    ...settings,
    async baseUrl() {
      const owner = await folder.owner();
      const address = owner ? owner.address : port === 0 ? undefined : defaultUrl;
      const proven = address && (await verify(address));
      if (!proven) {
        // The code tells the client that the service is away, as after a refused connection.
        throw Object.assign(new Error("No server of the data folder answers."), { code: "ECONNREFUSED" });
      }
      return proven;
    },
    key: () => folder.credential(),
    isDirect: true,
  });
  const place = port === 0 ? "" : `, or at ${defaultUrl}`;
  return { client, description: `the folder ${dataDir}${place}` };
}

/** Calls `work` with a client of the running service. @throws an error that says what to do. */
export async function withClient<Result>(
  options: CommandOptions,
  command: string,
  work: (client: Client) => Promise<Result>,
): Promise<Result> {
  const { config } = readConfig(undefined, settingsOf(options));
  const { client, description } = await connectToService(config, command);
  try {
    return await work(client);
  } catch (error) {
    throw explainFailure(error, { description, isUpstream: config.upstream !== undefined });
  } finally {
    await client.close();
  }
}

interface FailedService {
  readonly description: string;
  readonly isUpstream: boolean;
}

export function explainFailure(cause: unknown, { description, isUpstream }: FailedService): Error {
  if (cause instanceof NoResponseError) {
    const { code } = cause;
    return new CommandError(explainNoResponse(cause, { description, isUpstream }), {
      cause,
      facts: { code },
    });
  }
  if (!(cause instanceof CallFailure)) {
    return cause instanceof Error ? cause : new Error(String(cause));
  }
  const { status, message, error, code } = cause;
  if (status === 401) {
    const advice = isUpstream
      ? "Set TIDINGS_API_KEY to a key of this service."
      : "Its key in the data folder was deleted: delete the file credential, and restart the service.";
    return new CommandError(`The service at ${description} rejects the key. ${advice}`, {
      cause,
      facts: { code },
    });
  }
  const details = (error?.details ?? []).map(describeField);
  const text = details.length > 0 ? details.join(" ") : [message, error?.fix ?? ""].join(" ").trim();
  const facts = error ?? { code };
  return status === 400 ? new UsageError(text, { cause, facts }) : new CommandError(text, { cause, facts });
}

function explainNoResponse(cause: NoResponseError, { description, isUpstream }: FailedService): string {
  if (!cause.isOutage) {
    return `The service at ${description} can't be called: ${reasonOf(cause)}`;
  }
  const advice = isUpstream
    ? "Check TIDINGS_BASE_URL, or unset it to use the service of this machine."
    : "Start it with tidings serve, or set TIDINGS_BASE_URL and TIDINGS_API_KEY for another one.";
  return `No service answers at ${description}. ${advice}`;
}

/** For example "self-signed certificate". */
function reasonOf({ message, cause }: NoResponseError): string {
  return cause instanceof Error && cause.message !== "" ? cause.message : message;
}
