/** Files that are not taken, not found or not to be sent. */
import { type Entry, entry } from "./entry.ts";

export const fileErrors = {
  one_source_needed: entry(
    "invalid_request",
    400,
    "The request names {count} sources.",
    "Send exactly one of {known}.",
  ),
  malformed_form: entry(
    "invalid_request",
    400,
    "The form could not be read: {reason}",
    "Send multipart/form-data with one part named file, which has a filename.",
  ),
  file_name_needed: entry(
    "invalid_request",
    400,
    "The file has no name.",
    "Send its name with an ending, for example menu.pdf.",
  ),
  file_empty: entry("invalid_request", 400, "The file is empty.", "Send a file that holds something."),
  file_too_large: entry(
    "invalid_request",
    413,
    "The file is larger than {limit} bytes.",
    "Send a file of at most {limit} bytes.",
  ),
  file_type_not_allowed: entry(
    "invalid_request",
    415,
    "Files named {value} are not taken.",
    "Send a file with one of these endings: {known}.",
  ),
  file_type_mismatch: entry(
    "invalid_request",
    415,
    "The file is not what it is called: {reason}",
    "Name it, and declare its Content-Type, as what it is.",
  ),
  file_unsafe: entry(
    "invalid_request",
    415,
    "The file is refused because it holds {value}, which other programs could run.",
    "Export the file anew without it; pack nothing else into it.",
  ),
  url_not_allowed: entry(
    "invalid_request",
    400,
    "This address can't be read: {reason}",
    "Send a public https address.",
  ),
  file_path_not_allowed: entry(
    "invalid_request",
    400,
    "There is no such file in the folder that is open to uploads, {folder}.",
    "Send the path of a plain file inside it, absolute or relative to it.",
  ),
  source_failed: entry(
    "business_rule",
    422,
    "The file could not be fetched: {reason}",
    "Check that the address answers 200 with the file itself, and try again.",
  ),
  media_not_sendable: entry(
    "business_rule",
    422,
    "This upload can't be sent as {media_type}: {reason}",
    "As {media_type} the channel takes {known}, of up to {limit} bytes.",
  ),
  upload_not_found: entry(
    "not_found",
    404,
    "There is no upload with this id or address.",
    "Take an id from list_uploads (GET /v1/uploads), or upload the file with upload_file.",
  ),
  not_a_csv_file: entry(
    "business_rule",
    422,
    "Contacts are imported from CSV; this upload is {value}.",
    "Upload the table as a file that ends with .csv.",
  ),
  import_not_found: entry(
    "not_found",
    404,
    "There is no import with this id.",
    "Use the id that import_contacts (POST /v1/contacts/import) answered.",
  ),
  file_not_found: entry("not_found", 404, "There is no such file.", "Upload the file again."),
  link_invalid: entry(
    "permission",
    403,
    "The link has expired, or was changed on its way.",
    "Ask for a new link.",
  ),
  range_not_satisfiable: entry(
    "invalid_request",
    416,
    "The file has no such part: it is {limit} bytes long.",
    "Ask for bytes within it, or leave Range out.",
  ),
} as const satisfies Record<string, Entry>;
