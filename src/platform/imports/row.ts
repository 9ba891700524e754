/**
 * What a row says of a contact.
 *
 * Cells are text and stay text: one that looks like a formula is kept as it is, and is only dangerous to
 * whoever opens it in a spreadsheet.
 */
import { Failure } from "../../../tools/failure.ts";
import { normalizePhone } from "../core/phone.ts";

type Column = "phone_number" | "name" | "tags" | { readonly attribute: string } | undefined;

export interface Person {
  readonly phone_number: string;
  readonly name: string | undefined;
  readonly tags: readonly string[];
  readonly metadata: Readonly<Record<string, string>>;
}

/** Why a row is rejected. */
export class Rejected extends Error {
  override readonly name = "Rejected";
}

const known: Readonly<Record<string, Column>> = {
  phone_number: "phone_number",
  phone: "phone_number",
  name: "name",
  tags: "tags",
};

/** As `contacts` takes them from anyone else. */
const limits = { name: 255, tag: 64, tags: 50, metadata: 16_384, attribute: 64 };

/** What each column is; undefined if none of them holds phone numbers. */
export function readHeader(cells: readonly string[]): readonly Column[] | undefined {
  const columns = cells.map((cell): Column => {
    const title = cell.trim();
    const plain = title.toLowerCase().replace(/[ -]/g, "_");
    if (Object.hasOwn(known, plain)) {
      return known[plain];
    }
    return title === "" ? undefined : { attribute: title.slice(0, limits.attribute).toWellFormed() };
  });
  return columns.includes("phone_number") ? columns : undefined;
}

/** @throws Rejected */
export function readPerson(columns: readonly Column[], cells: readonly string[]): Person {
  const texts: Record<string, string> = {};
  const attributes: [string, string][] = [];
  for (const [index, column] of columns.entries()) {
    const cell = cells[index]?.trim() ?? "";
    if (cell !== "" && typeof column === "string") {
      texts[column] = cell;
    } else if (cell !== "" && typeof column === "object") {
      attributes.push([column.attribute, cell]);
    }
  }
  if (cells.length > columns.length) {
    throw new Rejected(`It has ${cells.length} cells, and the header ${columns.length}.`);
  }
  const metadata = Object.fromEntries(attributes);
  if (JSON.stringify(metadata).length > limits.metadata) {
    throw new Rejected(`Its attributes are longer than ${limits.metadata} characters together.`);
  }
  const { name, phone_number = "", tags = "" } = texts;
  if (name !== undefined && name.length > limits.name) {
    throw new Rejected(`The name is longer than ${limits.name} characters.`);
  }
  return { phone_number: readPhone(phone_number), name, tags: readTags(tags), metadata };
}

function readPhone(text: string): string {
  if (text === "") {
    throw new Rejected("There is no phone number.");
  }
  try {
    return normalizePhone(text, "phone_number");
  } catch (error) {
    throw error instanceof Failure
      ? new Rejected("The phone number is not valid; write it with the country code, like +14155550123.")
      : error;
  }
}

function readTags(text: string): string[] {
  const tags = [...new Set(text.split(/[;|]/).flatMap((tag) => tag.trim() || []))];
  if (tags.length > limits.tags || tags.some((tag) => tag.length > limits.tag)) {
    throw new Rejected(`At most ${limits.tags} tags of at most ${limits.tag} characters are taken.`);
  }
  return tags;
}
