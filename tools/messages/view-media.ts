/** Viewing the file of a message or an upload in a form that a model takes: an image, or a text. */
import { z } from "zod";
import { type ErrorEntry, errorEntry, id, one, operation, untrusted, yes } from "../contract/index.ts";

export const mediaViews = ["image", "document", "recording"] as const;

/** The scopes of messages and of uploads; which one counts depends on what is viewed. */
const scope = {
  any: ["inbox:read", "inbox:write", "contacts:write", "templates:create", "broadcasts:create"],
} as const;

export const mediaOperations = {
  view_media: operation({
    method: "GET",
    path: "/v1/media",
    scope,
    failures: [422],
    tier: "lean",
    title: "View media",
    description:
      "See the image, read the PDF, or read the transcript of the voice note of one message or upload.",
    input: z
      .object({
        message_id: id("Message", "list_messages").optional(),
        upload_id: z.string().min(1).max(64).optional().describe("Instead of message_id"),
        page: z.int().min(1).default(1).describe("Page of a PDF to begin with"),
      })
      .superRefine(({ message_id, upload_id }, context) => {
        if ((message_id === undefined) === (upload_id === undefined)) {
          context.addIssue({
            code: "custom",
            path: ["message_id"],
            message: "Send either message_id or upload_id.",
          });
        }
      }),
    output: one(
      z.object({
        kind: z.enum(mediaViews),
        /** Of the stored file. */
        content_type: z.string(),
        file_name: untrusted(z.string()).nullable(),
        file_size: z.int(),
        /** Null unless the file is an image. */
        image: untrusted(
          z.object({
            content_type: z.string(),
            /** Null if the image was not scaled, and so not measured. */
            width: z.int().nullable(),
            height: z.int().nullable(),
            base64: z.string(),
          }),
        ).nullable(),
        /** The text of pages of a PDF, or what is said in a recording; null for an image. */
        text: untrusted(z.string()).nullable(),
        /** Of a recording, as the transcription service names it. */
        language: z.string().nullable(),
        /** Of a PDF: the number of its pages, and the page to continue with; null after the last one. */
        pages: z.int().nullable(),
        next_page: z.int().nullable(),
      }),
    ),
    image: "image",
    // For the transcription service. MCP clients give up after 60 seconds.
    waitSeconds: 45,
    hints: { openWorld: yes("It may send a recording to the transcription service, or fetch the file.") },
  }),
};

export const viewMediaErrors = {
  message_without_file: errorEntry(
    "business_rule",
    422,
    "This message has no file: {reason}",
    "View a message of type image, document or audio, from list_messages (GET /v1/messages).",
  ),
  media_not_viewable: errorEntry("business_rule", 422, "The file can't be shown: {reason}", "{advice}"),
  transcription_not_configured: errorEntry(
    "business_rule",
    422,
    "This service has no transcription service, so it can't tell what is said.",
    "Ask the user to listen to it, or the operator to set TIDINGS_TRANSCRIPTION_URL.",
  ),
  transcription_failed: errorEntry(
    "business_rule",
    422,
    "The transcription service did not transcribe the recording: {reason}",
    "{advice}",
  ),
} as const satisfies Record<string, ErrorEntry>;
