/** Takes the image out of an answer, so that it is sent as an image and not as text. */
import type { ImageContent } from "@modelcontextprotocol/server";
import type { OperationImage } from "../../../tools/contract/index.ts";

/** @returns the answer without the bytes of its image, and the image if it has one. */
export function takeImage(
  answer: object,
  member: string | undefined,
): { readonly rest: object; readonly images: readonly ImageContent[] } {
  const { data }: { data?: unknown } = answer;
  if (member === undefined || !isObject(data) || !isImage(data[member])) {
    return { rest: answer, images: [] };
  }
  const { base64, ...described } = data[member];
  return {
    rest: { ...answer, data: { ...data, [member]: described } },
    images: [{ type: "image", data: base64, mimeType: described.content_type }],
  };
}

/** The service may be another implementation. */
function isImage(value: unknown): value is OperationImage & Record<string, unknown> {
  return isObject(value) && typeof value.base64 === "string" && typeof value.content_type === "string";
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null;
}
