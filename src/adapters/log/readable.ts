/** Writes an entry of the log for a person at a terminal: the time, the level, the message and its facts. */

/** pino's numbers of the levels. */
const levels: Readonly<Record<number, string>> = {
  10: "trace",
  20: "debug",
  30: "info",
  40: "warn",
  50: "error",
  60: "fatal",
};

/** A text that reads well without quotes. */
const plain = /^[\w.:/@+-]+$/;
/** Characters that would control the terminal; in the tail of an entry, lines are kept. */
const controls = /(?!\n)\p{Cc}/gu;

/** @param line an entry as JSON, of pino. A line that redaction has made invalid is returned as it is. */
export function describeEntry(line: string): string {
  const entry = parseEntry(line);
  if (!entry) {
    return line;
  }
  const { level, time, msg, err, ...facts } = entry;
  const values = Object.entries(facts).map(([name, value]) => `${name}=${describeValue(value)}`);
  const head = [describeTime(time), (levels[Number(level)] ?? "").padEnd(5), `${msg ?? ""}`, ...values];
  const text = `${head.join("  ").replaceAll("\n", " ")}${describeError(err)}`;
  return `${text.replace(controls, escapeControl)}\n`;
}

function parseEntry(line: string): Readonly<Record<string, unknown>> | undefined {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}

/** JSON leaves the controls above U+007E as they are. */
function escapeControl(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
}

/** In the time zone of the terminal. */
function describeTime(time: unknown): string {
  const date = new Date(String(time));
  return [date.getHours(), date.getMinutes(), date.getSeconds()]
    .map((part) => String(part).padStart(2, "0"))
    .join(":");
}

function describeValue(value: unknown): string {
  return typeof value === "string" && plain.test(value) ? value : JSON.stringify(value);
}

/** The stack of an error, or what there is of it, on lines of its own. */
function describeError(error: unknown): string {
  if (error === undefined) {
    return "";
  }
  const { stack } = Object(error);
  const text = typeof stack === "string" ? stack : JSON.stringify(error);
  return `\n${text}`.replaceAll("\n", "\n          ");
}
