/** Uploads: files kept for messages, templates and imports. */
import { z } from "zod";
import { timestamp } from "./fields.ts";
import { one, operation } from "./operation.ts";

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

const title = "Upload file";

export const uploads = {
  upload_file: operation({
    method: "POST",
    path: "/v1/uploads",
    encoding: "multipart",
    effect: "streamed",
    scope: { any: ["inbox:write", "contacts:write", "templates:create", "broadcasts:create"] },
    title,
    description:
      "Keep an image, video, document, audio or CSV file of up to 32 MB: as the part file of a multipart form, or as JSON with url or content_base64. Exactly one of the three.",
    input: Source,
    output: one(
      z.object({
        id: z.string(),
        /** For whoever has it until it expires; as the media_url of a message it stays good. */
        storage_url: z.string(),
        storage_url_expires_at: timestamp,
        cdn_url: z.string().optional(),
        file_name: z.string(),
        file_size: z.int(),
        content_type: z.string(),
      }),
    ),
    status: 201,
    tools: {
      upload_file: {
        title,
        description:
          "Keep an image, video, document, audio or CSV file of up to 32 MB. Its storage_url is a media_url for send_media_message, its id an upload_id for import_contacts. Give the file in exactly one way.",
        input: Source,
        local: z.object({
          file_path: z
            .string()
            .min(1)
            .max(4096)
            .optional()
            .describe("Path of a file on this machine, inside the folder that is open to uploads"),
        }),
      },
    },
  }),
};
