/** What the command line knows of a command: help, parsing and documentation are made from it. */
import type { CommandOptions, OptionName } from "./options.ts";

export interface Command {
  /** What the command does, in one sentence. */
  readonly summary: string;
  /** The names of the arguments that follow the command. */
  readonly arguments?: readonly string[];
  /** Each option with its meaning. */
  readonly options?: Readonly<Partial<Record<OptionName, string>>>;
  /** What else its help says, in paragraphs. */
  readonly notes?: readonly string[];
  run(options: CommandOptions, args: readonly string[]): Promise<void>;
}

/** Commands by name, of one word or two. */
export type Commands = Readonly<Record<string, Command>>;

/** The meanings of options that several commands have. */
export const meanings = {
  dataDir: "The data folder, instead of TIDINGS_DATA_DIR.",
  events: "Only events of these types, separated by commas, for example message.received. Default: all.",
  json: "Print JSON, for scripts.",
  organization: "Id of the organization. Default: the one of the first start.",
} as const;
