/** Uploads: stored files for messages, templates and imports. */
import { z } from "zod";
import {
  DeletionResult,
  type ErrorEntry,
  errorEntry,
  id,
  one,
  operation,
  paged,
  paging,
  timestamp,
  yes,
} from "./contract/index.ts";

/** 32 MB, in bytes and as the length of its base64 text. */
export const maxUploadBytes = 32 * 1024 * 1024;
const maxBase64 = Math.ceil(maxUploadBytes / 3) * 4;

/** Zod's own pattern overflows the stack on large files. */
const base64 = z
  .string()
  .min(1)
  .max(maxBase64, "At most 32 MB.")
  .refine((text) => /^[A-Za-z0-9+/]*={0,2}$/.test(text) && text.length % 4 === 0, "Send valid base64.");

/** The public address of a file that the service fetches. */
export const sourceUrl = z
  .url({ protocol: /^https?$/, error: "Send an address that begins with https://." })
  .max(2048, "At most 2048 characters.");

const Source = z.object({
  content_base64: base64.optional().describe("Content of a small file; needs file_name"),
  url: sourceUrl.optional().describe("Public https address of the file"),
  file_name: z.string().min(1).max(255).optional().describe("Like menu.pdf; a url has its own"),
  content_type: z
    .string()
    .regex(/^[\w.+-]+\/[\w.+-]+$/, "Send a media type, for example image/png.")
    .max(127)
    .optional()
    .describe("By default from the name"),
  generate_cdn: z.boolean().default(false).describe("Also a public CDN address"),
});

const Upload = z.object({
  id: z.string(),
  /**
   * A link that gives access until it expires. Used as the address of a file in another call, the link does
   * not expire.
   */
  storage_url: z.string(),
  storage_url_expires_at: timestamp,
  cdn_url: z.string().optional(),
  file_name: z.string(),
  file_size: z.int(),
  content_type: z.string(),
});
const ListedUpload = Upload.extend({ created_at: timestamp });

/** Scopes for operations that use files. */
const scope = { any: ["inbox:write", "contacts:write", "templates:create", "broadcasts:create"] } as const;

const title = "Upload file";
const uploadId = id("Upload", "list_uploads");

export const uploads = {
  upload_file: operation({
    method: "POST",
    path: "/v1/uploads",
    encoding: "multipart",
    effect: "streamed",
    scope,
    tier: "lean",
    title,
    description:
      "Upload an image, video, document, audio or CSV file of up to 32 MB: as the part file of a multipart form, or as JSON with url or content_base64. Send exactly one of the three.",
    input: Source,
    output: one(Upload),
    status: 201,
    hints: { openWorld: yes("It may fetch the file from an address.") },
    tools: {
      upload_file: {
        title,
        description:
          "Upload an image, video, document, audio or CSV file of up to 32 MB from one source. storage_url is its address in other tools.",
        input: Source,
        local: {
          field: "file_path",
          schema: z
            .string()
            .min(1)
            .max(4096)
            .optional()
            .describe("Path of a file on this machine, inside the upload folder"),
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
    description: "List the uploaded files, newest first, each with a temporary link.",
    input: z.object({
      search: z.string().max(255).optional().describe("Part of a file name"),
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
    description: "Get an uploaded file's name, type and size, with a new link.",
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
      "Delete an uploaded file. Links to it stop working, also in messages. This can't be undone; a CDN may keep a copy.",
    input: z.object({ id: uploadId }),
    output: one(DeletionResult),
  }),
};

export const uploadErrors = {
  one_source_needed: errorEntry(
    "invalid_request",
    400,
    "The request has {count} file sources.",
    "Send exactly one of {known}.",
  ),
  malformed_form: errorEntry(
    "invalid_request",
    400,
    "The form could not be read: {reason}",
    "Send multipart/form-data with one part named file that has a filename.",
  ),
  file_name_needed: errorEntry(
    "invalid_request",
    400,
    "The file has no name.",
    "Send its name with an extension, for example menu.pdf.",
  ),
  file_empty: errorEntry("invalid_request", 400, "The file is empty.", "Send a file with content."),
  file_too_large: errorEntry(
    "invalid_request",
    413,
    "The file is larger than {limit} bytes.",
    "Send a file of at most {limit} bytes.",
  ),
  file_type_not_allowed: errorEntry(
    "invalid_request",
    415,
    "Files named {value} are not accepted.",
    "Send a file with one of these extensions: {known}.",
  ),
  file_type_mismatch: errorEntry(
    "invalid_request",
    415,
    "The file's content does not match its name or type: {reason}",
    "Correct its name and Content-Type.",
  ),
  file_unsafe: errorEntry(
    "invalid_request",
    415,
    "The file is not accepted because it contains {value}, which could run as code.",
    "Export the file again without it.",
  ),
  url_not_allowed: errorEntry(
    "invalid_request",
    400,
    "This address can't be fetched: {reason}",
    "Send a public https address.",
  ),
  file_path_not_allowed: errorEntry(
    "invalid_request",
    400,
    "There is no such file in the upload folder, {folder}.",
    "Send the path of a regular file inside it, absolute or relative to it.",
  ),
  source_failed: errorEntry(
    "business_rule",
    422,
    "The file could not be fetched: {reason}",
    "Check that the address returns status 200 and the file itself, and try again.",
  ),
  upload_not_found: errorEntry(
    "not_found",
    404,
    "There is no upload with this id or address.",
    "Find the id with list_uploads (GET /v1/uploads), or upload the file again with upload_file.",
  ),
  file_not_found: errorEntry("not_found", 404, "There is no such file.", "Upload the file again."),
  link_invalid: errorEntry(
    "permission",
    403,
    "The link has expired or was altered.",
    "Get a new link with get_upload.",
  ),
  range_not_satisfiable: errorEntry(
    "invalid_request",
    416,
    "The requested range is outside the file, which has {limit} bytes.",
    "Request a range within the file, or omit the Range header.",
  ),
} as const satisfies Record<string, ErrorEntry>;
