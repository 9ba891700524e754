/** Uploads: files kept for messages, templates and imports. */
import { z } from "zod";
import {
  Deleted,
  type ErrorEntry,
  errorEntry,
  id,
  one,
  operation,
  paged,
  paging,
  timestamp,
} from "./contract/index.ts";

/** 32 MB, in bytes and as base64 writes them. */
export const maxUploadBytes = 32 * 1024 * 1024;
const maxBase64 = Math.ceil(maxUploadBytes / 3) * 4;

/** Zod's own pattern overflows the stack on a file of some size. */
const base64 = z
  .string()
  .min(1)
  .max(maxBase64, "At most 32 MB.")
  .refine((text) => /^[A-Za-z0-9+/]*={0,2}$/.test(text) && text.length % 4 === 0, "This is not base64.");

/** The public address of a file that the service fetches. */
export const sourceUrl = z
  .url({ protocol: /^https?$/, error: "Send an address that begins with https://." })
  .max(2048, "At most 2048 characters.");

const Source = z.object({
  content_base64: base64.optional().describe("A small file as base64, with file_name"),
  url: sourceUrl.optional().describe("Public https address of the file"),
  file_name: z
    .string()
    .min(1)
    .max(255)
    .optional()
    .describe("Name with ending, like menu.pdf; a url has its own"),
  content_type: z
    .string()
    .regex(/^[\w.+-]+\/[\w.+-]+$/, "Send a media type, for example image/png.")
    .max(127)
    .optional()
    .describe("Media type; from the name when left out"),
  generate_cdn: z.boolean().default(false).describe("Also make a public CDN address"),
});

const Upload = z.object({
  id: z.string(),
  /** For whoever has it until it expires; as the media_url of a message it stays good. */
  storage_url: z.string(),
  storage_url_expires_at: timestamp,
  cdn_url: z.string().optional(),
  file_name: z.string(),
  file_size: z.int(),
  content_type: z.string(),
});
const ListedUpload = Upload.extend({ created_at: timestamp });

/** Whoever may use a file. */
const scope = { any: ["inbox:write", "contacts:write", "templates:create", "broadcasts:create"] } as const;

const title = "Upload file";
const uploadId = id("Upload", "upload_file or list_uploads");

export const uploads = {
  upload_file: operation({
    method: "POST",
    path: "/v1/uploads",
    encoding: "multipart",
    effect: "streamed",
    scope,
    title,
    description:
      "Keep an image, video, document, audio or CSV file of up to 32 MB: as the part file of a multipart form, or as JSON with url or content_base64. Exactly one of the three.",
    input: Source,
    output: one(Upload),
    status: 201,
    tools: {
      upload_file: {
        title,
        description:
          "Keep an image, video, document, audio or CSV file of up to 32 MB. Its storage_url is a media_url for send_media_message, its id an upload_id for import_contacts. Give the file in exactly one way.",
        input: Source,
        local: {
          field: "file_path",
          schema: z
            .string()
            .min(1)
            .max(4096)
            .optional()
            .describe("Path of a file on this machine, inside the folder that is open to uploads"),
          insteadOf: ["content_base64", "url"],
        },
      },
    },
  }),

  list_uploads: operation({
    method: "GET",
    path: "/v1/uploads",
    scope,
    tier: "extended",
    title: "List uploads",
    description: "List the files that are kept, newest first, each with a link that is good for a while.",
    input: z.object({
      search: z.string().max(255).optional().describe("Part of a file's name"),
      ...paging(25),
    }),
    output: paged(ListedUpload),
  }),

  get_upload: operation({
    method: "GET",
    path: "/v1/uploads/{id}",
    scope,
    tier: "extended",
    title: "Get upload",
    description: "Get one file's name, type and size, with a fresh link to it.",
    input: z.object({ id: uploadId }),
    output: one(ListedUpload),
  }),

  delete_upload: operation({
    method: "DELETE",
    path: "/v1/uploads/{id}",
    scope,
    tier: "extended",
    title: "Delete upload",
    description:
      "Delete a file. Links to it stop working, those in messages too. This can't be undone, and a CDN may still have a copy.",
    input: z.object({ id: uploadId }),
    output: one(Deleted),
  }),
};

export const uploadErrors = {
  one_source_needed: errorEntry(
    "invalid_request",
    400,
    "The request names {count} sources.",
    "Send exactly one of {known}.",
  ),
  malformed_form: errorEntry(
    "invalid_request",
    400,
    "The form could not be read: {reason}",
    "Send multipart/form-data with one part named file, which has a filename.",
  ),
  file_name_needed: errorEntry(
    "invalid_request",
    400,
    "The file has no name.",
    "Send its name with an ending, for example menu.pdf.",
  ),
  file_empty: errorEntry("invalid_request", 400, "The file is empty.", "Send a file that holds something."),
  file_too_large: errorEntry(
    "invalid_request",
    413,
    "The file is larger than {limit} bytes.",
    "Send a file of at most {limit} bytes.",
  ),
  file_type_not_allowed: errorEntry(
    "invalid_request",
    415,
    "Files named {value} are not taken.",
    "Send a file with one of these endings: {known}.",
  ),
  file_type_mismatch: errorEntry(
    "invalid_request",
    415,
    "The file is not what it is called: {reason}",
    "Name it, and declare its Content-Type, as what it is.",
  ),
  file_unsafe: errorEntry(
    "invalid_request",
    415,
    "The file is refused because it holds {value}, which other programs could run.",
    "Export the file anew without it; pack nothing else into it.",
  ),
  url_not_allowed: errorEntry(
    "invalid_request",
    400,
    "This address can't be read: {reason}",
    "Send a public https address.",
  ),
  file_path_not_allowed: errorEntry(
    "invalid_request",
    400,
    "There is no such file in the folder that is open to uploads, {folder}.",
    "Send the path of a plain file inside it, absolute or relative to it.",
  ),
  source_failed: errorEntry(
    "business_rule",
    422,
    "The file could not be fetched: {reason}",
    "Check that the address answers 200 with the file itself, and try again.",
  ),
  upload_not_found: errorEntry(
    "not_found",
    404,
    "There is no upload with this id or address.",
    "Take an id from list_uploads (GET /v1/uploads), or upload the file with upload_file.",
  ),
  file_not_found: errorEntry("not_found", 404, "There is no such file.", "Upload the file again."),
  link_invalid: errorEntry(
    "permission",
    403,
    "The link has expired, or was changed on its way.",
    "Ask for a new link.",
  ),
  range_not_satisfiable: errorEntry(
    "invalid_request",
    416,
    "The file has no such part: it is {limit} bytes long.",
    "Ask for bytes within it, or leave Range out.",
  ),
} as const satisfies Record<string, ErrorEntry>;
