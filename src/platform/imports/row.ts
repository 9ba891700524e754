/**
 * What a row says of a contact.
 *
 * Cells are text and stay text: one that looks like a formula is kept as it is, and is only dangerous to
 * whoever opens it in a spreadsheet.
 */

import { Failure, maxMetadata } from "../../../tools/contract/index.ts";
import { normalizePhone, type Person } from "../contacts/index.ts";
import { Unreadable } from "./csv.ts";

type Column = "phone_number" | "name" | "tags" | { readonly attribute: string } | undefined;

/** What each column is, from the first line. */
export type Columns = readonly Column[];

/** Why a row is rejected. */
export class Rejected extends Error {
  override readonly name = "Rejected";
}

/** Without what separates words: Phone Number, phone-number and PhoneNumber are one. */
const known: Readonly<Record<string, Column>> = {
  phonenumber: "phone_number",
  phone: "phone_number",
  name: "name",
  tags: "tags",
};

/** As `contacts` takes them from anyone else. */
const limits = { name: 255, tag: 64, tags: 50, attribute: 64 };

/** @throws Unreadable if it is not clear which column holds what. */
export function readHeader(cells: readonly string[]): Columns {
  const columns = cells.map((cell): Column => {
    const title = cell.trim();
    const plain = title.toLowerCase().replace(/[\s_-]/g, "");
    if (Object.hasOwn(known, plain)) {
      return known[plain];
    }
    return title === "" ? undefined : { attribute: title.slice(0, limits.attribute).toWellFormed() };
  });
  if (!columns.includes("phone_number")) {
    throw new Unreadable(
      `There is no column named phone_number or phone among the ${cells.length} of the first line: name the one with the numbers so, and import the file again.`,
    );
  }
  const titles = columns.map((column) => (typeof column === "object" ? `.${column.attribute}` : column));
  const second = titles.findIndex((title, index) => title !== undefined && titles.indexOf(title) < index);
  if (second >= 0) {
    const first = titles.indexOf(titles[second]) + 1;
    throw new Unreadable(
      `The columns ${first} and ${second + 1} of the first line mean the same: rename or delete one of them, and import the file again.`,
    );
  }
  return columns;
}

/** @throws Rejected */
export function readPerson(columns: Columns, cells: readonly string[]): Person {
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
    throw new Rejected(
      `It has ${cells.length} cells, and the header ${columns.length}: put cells with the delimiter in them in quotation marks.`,
    );
  }
  const metadata = Object.fromEntries(attributes);
  if (JSON.stringify(metadata).length > maxMetadata) {
    throw new Rejected(`Its attributes are longer than ${maxMetadata} characters together.`);
  }
  const { name, phone_number = "", tags = "" } = texts;
  if (name !== undefined && name.length > limits.name) {
    throw new Rejected(`The name is longer than ${limits.name} characters.`);
  }
  return { phone_number: readPhone(phone_number), name, tags: readTags(tags), metadata };
}

/** What a spreadsheet makes of a number that it takes for a quantity: digits are lost, or added. */
const quantity = /^\+?\d+(?:[.,]\d+)?e\+?\d+$|^\+?\d{7,}[.,]0$/i;

function readPhone(text: string): string {
  if (text === "") {
    throw new Rejected("There is no phone number.");
  }
  if (quantity.test(text)) {
    throw new Rejected(
      "The phone number was written as a quantity, like 4.9E+12 or 4915112345678.0: make its column text, and export the file again.",
    );
  }
  try {
    return normalizePhone(text, "phone_number");
  } catch (error) {
    throw error instanceof Failure
      ? new Rejected("The phone number is not valid; write it with the country code, like +14155550123.")
      : error;
  }
}

/** In the letters of `tools/contacts.ts`: VIP and vip are one tag. */
function readTags(text: string): string[] {
  const written = text.split(/[;|]/).map((tag) => tag.normalize().trim().toLowerCase());
  const tags = [...new Set(written.filter((tag) => tag !== ""))];
  if (tags.length > limits.tags || tags.some((tag) => tag.length > limits.tag)) {
    throw new Rejected(`At most ${limits.tags} tags of at most ${limits.tag} characters are taken.`);
  }
  return tags;
}
