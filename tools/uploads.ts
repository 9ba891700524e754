/** Uploads: files kept for messages, templates and imports. */
import { z } from "zod";
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

export const uploads = {
  upload_file: operation({
    method: "POST",
    path: "/v1/uploads",
    encoding: "multipart",
    scope: { any: ["inbox:write", "contacts:write", "templates:create", "broadcasts:create"] },
    title: "Upload file",
    description:
      "Upload an image, video, document, audio or CSV file of up to 32 MB, for send_media_message or create_template. A file with a public address needs no upload.",
    input: z.object({
      file_name: z.string().min(1).max(255).describe("Name with ending, for example menu.pdf"),
      content_base64: base64.describe("The file, base64"),
      content_type: z
        .string()
        .regex(/^[\w.+-]+\/[\w.+-]+$/, "Send a media type, for example image/png.")
        .max(127)
        .optional()
        .describe("Media type, for example application/pdf"),
      generate_cdn: z.boolean().default(false).describe("Also make a public CDN address"),
    }),
    output: one(
      z.object({
        storage_url: z.string(),
        cdn_url: z.string().optional(),
        file_name: z.string(),
        file_size: z.int(),
        content_type: z.string(),
      }),
    ),
    status: 201,
  }),
};
