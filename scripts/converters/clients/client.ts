/** What each client does: convert the tools of a server, and call them. */

export type ToolSchema = Readonly<Record<string, unknown>>;
export type Arguments = Readonly<Record<string, unknown>>;

export interface PlannedTool {
  readonly name: string;
  /** As the server lists it. */
  readonly inputSchema: ToolSchema;
  readonly arguments: Arguments;
}

export interface ServerCommand {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

export interface Plan {
  readonly tools: readonly PlannedTool[];
  readonly server: ServerCommand;
}

/** A conversion for one kind of model. */
export interface Conversion {
  /** As the model gets it. */
  readonly schema: ToolSchema;
  /** What may be noted, and is no failure. */
  readonly note?: string;
}

export interface ClientUnderTest {
  convert(tool: PlannedTool): readonly Conversion[];
  /** Calls a tool. @returns the text of an error; undefined if the call succeeded. */
  call(tool: PlannedTool): Promise<string | undefined>;
  close(): Promise<void>;
}

/** Connects a client to a server, which it starts. */
export type OpenClient = (server: ServerCommand) => Promise<ClientUnderTest>;

/** By client and tool. */
export type Results = Readonly<Record<string, Readonly<Record<string, ConversionResult>>>>;

export interface ConversionResult {
  readonly problem?: string;
  readonly note?: string;
}

/** Imports a package that only the folder of this run has. */
export function load(name: string): Promise<unknown> {
  return import(name);
}

/** A result of a tool call, as the protocol has it. */
export interface CallResult {
  readonly isError?: boolean;
  readonly content?: readonly { readonly text?: string }[];
}

export function errorOf({ isError, content }: CallResult): string | undefined {
  return isError ? (content?.[0]?.text ?? "an error without a text") : undefined;
}
