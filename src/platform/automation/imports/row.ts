/**
 * Converts a row to a contact.
 *
 * Cells are stored as text. A cell that looks like a formula is not changed: a formula is dangerous only when
 * a spreadsheet opens the text.
 */

import { maxMetadata, tag, tagLimits } from "../../../../tools/contract/index.ts";
import { cutText } from "../../../texts/cut.ts";
import { type PhoneRegion, readPhone } from "../../account/phone/index.ts";
import type { ContactInput } from "../../inbox/contacts/index.ts";
import { maxColumns, UnreadableFileError } from "./csv.ts";

type Column = "phone_number" | "name" | "tags" | { readonly attribute: string } | undefined;

/** The meaning of each column, from the header; undefined columns are ignored. */
export type ImportColumns = readonly Column[];

/** A row that is skipped. The message is for the user. */
export class RejectedRowError extends Error {
  override readonly name = "RejectedRowError";

  /** The message without numbers, for reports that are not deleted by age. */
  readonly anonymous: string;

  constructor(message: string, anonymous = message) {
    super(message);
    this.anonymous = anonymous;
  }
}

/** Titles in lower case without separators: Phone Number, phone-number and PhoneNumber are the same. */
const knownTitles: Readonly<Record<string, Column>> = {
  phonenumber: "phone_number",
  phone: "phone_number",
  name: "name",
  tags: "tags",
};

/** The same limits as in the operations of contacts. */
const limits = { phone: 32, name: 255, attribute: 64 };

/** A longer cell is not split: a row may be 128 kB of tags. Leaves room for spaces around them. */
const maxTagsText = 2 * tagLimits.count * tagLimits.length;

/** @throws UnreadableFileError if a column is missing or ambiguous, or if there are too many. */
export function readHeader(cells: readonly string[]): ImportColumns {
  if (cells.length > maxColumns) {
    throw new UnreadableFileError(
      `The first line has more than ${maxColumns} columns: delete those that are not needed.`,
    );
  }
  const columns = cells.map((cell): Column => {
    const title = cell.trim();
    const plain = title.toLowerCase().replace(/[\s_-]/g, "");
    if (Object.hasOwn(knownTitles, plain)) {
      return knownTitles[plain];
    }
    // A dot would divide the name: metadata.address.city is the member city of address.
    return title === "" ? undefined : { attribute: cutText(title.replaceAll(".", "_"), limits.attribute) };
  });
  if (!columns.includes("phone_number")) {
    throw new UnreadableFileError(
      `There is no column named phone_number or phone among the ${cells.length} columns of the first line: rename the column with the phone numbers.`,
    );
  }
  const titles = columns.map((column) => (typeof column === "object" ? `.${column.attribute}` : column));
  const second = titles.findIndex((title, index) => title !== undefined && titles.indexOf(title) < index);
  if (second >= 0) {
    const first = titles.indexOf(titles[second]) + 1;
    throw new UnreadableFileError(
      `The columns ${first} and ${second + 1} of the first line have the same meaning: rename or delete one of them.`,
    );
  }
  return columns;
}

/** @throws RejectedRowError */
export function readContact(
  columns: ImportColumns,
  cells: readonly string[],
  region: PhoneRegion,
): ContactInput {
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
    const count = cells.length > maxColumns ? `more than ${maxColumns}` : cells.length;
    throw new RejectedRowError(
      `The row has ${count} cells, but the header has ${columns.length}: put cells that contain the delimiter in quotation marks.`,
    );
  }
  const metadata = Object.fromEntries(attributes);
  if (JSON.stringify(metadata).length > maxMetadata) {
    throw new RejectedRowError(`The attributes are longer than ${maxMetadata} characters in total.`);
  }
  const { name, phone_number = "", tags = "" } = texts;
  if (name !== undefined && name.length > limits.name) {
    throw new RejectedRowError(`The name is longer than ${limits.name} characters.`);
  }
  return { phone_number: readNumber(phone_number, region), name, tags: readTags(tags), metadata };
}

/** A phone number that a spreadsheet has converted to a number: digits are lost or added. */
const quantity = /^\+?\d+(?:[.,]\d+)?e\+?\d+$|^\+?\d{7,}[.,]0$/i;

function readNumber(text: string, region: PhoneRegion): string {
  if (text === "") {
    throw new RejectedRowError("There is no phone number.");
  }
  if (quantity.test(text)) {
    throw new RejectedRowError(
      "The phone number was written as a quantity, like 4.9E+12 or 4915112345678.0: make its column text, and export the file again.",
    );
  }
  if (text.length > limits.phone) {
    throw new RejectedRowError(`The phone number is longer than ${limits.phone} characters.`);
  }
  const reading = readPhone(text, region);
  if (reading.reason !== undefined) {
    const explain = (reason: string) =>
      `The phone number is not valid. ${reason} Write it with the country code, like +14155550123, or set default_country with update_organization (PUT /v1/organization).`;
    throw new RejectedRowError(explain(reading.reason), explain(reading.rule));
  }
  return reading.number;
}

function readTags(text: string): string[] {
  const written = text
    .slice(0, maxTagsText)
    .split(/[;|]/)
    .filter((part) => part.trim() !== "");
  const read = written.map((part) => tag.safeParse(part));
  const tags = [...new Set(read.flatMap(({ data }) => data ?? []))];
  const isTooLong = text.length > maxTagsText || read.some(({ success }) => !success);
  if (isTooLong || tags.length > tagLimits.count) {
    throw new RejectedRowError(
      `At most ${tagLimits.count} tags of at most ${tagLimits.length} characters are allowed.`,
    );
  }
  return tags;
}
