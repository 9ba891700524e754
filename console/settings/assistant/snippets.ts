/** What a person pastes into an MCP client to connect it with a key. */

interface Command {
  readonly command: string;
  readonly args: readonly string[];
}

interface Connection {
  /** The address of the service, without a path. */
  readonly service: string;
  readonly secret: string;
}

export const clients = ["claude_code", "claude_desktop", "cursor", "vscode", "other"] as const;
export type ClientName = (typeof clients)[number];

/** stdio: the client starts a program on this machine. http: it calls the service by its address. */
export const transports = ["stdio", "http"] as const;
export type Transport = (typeof transports)[number];

const name = "tidings";

/** The forms over HTTP. Claude Desktop has none with a key. */
const http: Readonly<Partial<Record<ClientName, (connection: Connection) => string>>> = {
  claude_code: ({ service, secret }) =>
    `claude mcp add --transport http ${name} ${service}/mcp --header "Authorization: Bearer ${secret}"`,
  cursor: (connection) => toJson({ mcpServers: { [name]: remote(connection) } }),
  vscode: (connection) => toJson({ servers: { [name]: { type: "http", ...remote(connection) } } }),
  other: ({ service, secret }) => `${service}/mcp\nAuthorization: Bearer ${secret}`,
};

/** The forms that start the program; its settings are the address and the key. */
const stdio: Readonly<Record<ClientName, (connection: Connection, command: Command) => string>> = {
  claude_code: (connection, { command, args }) => {
    const settings = Object.entries(environment(connection)).map(([key, value]) => `--env ${key}=${value}`);
    return `claude mcp add ${name} ${settings.join(" ")} -- ${[command, ...args].map(quote).join(" ")}`;
  },
  claude_desktop: (connection, command) => toJson({ mcpServers: { [name]: local(connection, command) } }),
  // Cursor warns above 80 tools of all servers together.
  cursor: (connection, command) => {
    const { env, ...entry } = local(connection, command);
    return toJson({ mcpServers: { [name]: { ...entry, env: { ...env, TIDINGS_TOOL_MODE: "lean" } } } });
  },
  vscode: (connection, command) =>
    toJson({ servers: { [name]: { type: "stdio", ...local(connection, command) } } }),
  other: (connection, command) => toJson(local(connection, command)),
};

/** @param command starts the program on this machine; null if it is not known. */
export function transportsOf(client: ClientName, command: Command | null): readonly Transport[] {
  return transports.filter((one) => (one === "http" ? http[client] !== undefined : command !== null));
}

/** Undefined if the client has no form for the transport. */
export function writeSnippet(
  client: ClientName,
  transport: Transport,
  { command, ...connection }: Connection & { readonly command: Command | null },
): string | undefined {
  if (transport === "http") {
    return http[client]?.(connection);
  }
  return command === null ? undefined : stdio[client](connection, command);
}

function environment({ service, secret }: Connection) {
  return { TIDINGS_BASE_URL: service, TIDINGS_API_KEY: secret };
}

function local(connection: Connection, { command, args }: Command) {
  return { command, args, env: environment(connection) };
}

function remote({ service, secret }: Connection) {
  return { url: `${service}/mcp`, headers: { Authorization: `Bearer ${secret}` } };
}

function toJson(value: object): string {
  return JSON.stringify(value, null, 2);
}

/** For a shell. */
function quote(word: string): string {
  return /^[\w./:\\-]+$/.test(word) ? word : `"${word.replace(/["$`\\]/g, "\\$&")}"`;
}
