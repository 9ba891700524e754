/**
 * Multipart forms, streamed to the platform so that no file is ever in memory as a whole.
 *
 * The parser reads only as fast as the file is consumed. After an error the rest of the form is read and
 * dropped, so that the response reaches a client that is still sending.
 */
import multipart from "@fastify/multipart";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { coerceFields, Failure, type Operation } from "../../../tools/contract/index.ts";
import { fail } from "../../../tools/errors.ts";
import { maxUploadBytes } from "../../../tools/uploads.ts";
import type { Form } from "../../ports/transport/form.ts";

/** The size of the fields and the boundaries besides the file. */
const maxOverheadBytes = 64 * 1024;

/** Longer than any field except `content_base64`, which a form replaces by a file part. */
const maxFieldBytes = 4096;

/** The parser throws for a longer boundary; the standard allows 70 characters. */
const maxContentTypeLength = 256;

/** Allow two files so that we, not busboy, reject the second. The platform limits the size of the file. */
const limits = {
  files: 2,
  fields: 16,
  parts: 20,
  fieldNameSize: 100,
  fieldSize: maxFieldBytes,
  fileSize: Number.POSITIVE_INFINITY,
};

export async function registerMultipart(app: FastifyInstance): Promise<void> {
  await app.register(multipart, { limits, throwFileSizeLimit: false });
}

/** The form of the request; undefined for other content types. */
export function readForm(operation: Operation, request: FastifyRequest): Form | undefined {
  if (operation.encoding !== "multipart" || !request.isMultipart()) {
    return undefined;
  }
  return {
    async read(consume) {
      if (Number(request.headers["content-length"]) > maxUploadBytes + maxOverheadBytes) {
        throw fail("file_too_large", { limit: maxUploadBytes, param: "file" });
      }
      if (String(request.headers["content-type"]).length > maxContentTypeLength) {
        const reason = `its Content-Type is longer than ${maxContentTypeLength} characters.`;
        throw fail("malformed_form", { reason, param: "Content-Type" });
      }
      try {
        const { file, fields } = await readParts(request, consume);
        return { file, fields: coerceFields(operation.input, fields) };
      } catch (error) {
        request.raw.unpipe();
        request.raw.resume();
        throw error instanceof Failure || !isParserError(error)
          ? error
          : fail("malformed_form", { reason: `${error.message}.` }, error);
      }
    },
  };
}

async function readParts<Result>(
  request: FastifyRequest,
  consume: (file: Parameters<Parameters<Form["read"]>[0]>[0]) => Promise<Result>,
) {
  const fields: Record<string, unknown> = {};
  const files: Result[] = [];
  for await (const part of request.parts()) {
    if (part.type === "field") {
      // The parser truncated the value: the value is rejected, because a part of it must not be used.
      if (part.valueTruncated) {
        const reason = `its field ${part.fieldname} is longer than ${maxFieldBytes} bytes.`;
        throw fail("malformed_form", { reason, param: part.fieldname });
      }
      fields[part.fieldname] = part.value;
    } else if (part.fieldname !== "file" || files.length > 0) {
      const reason = files.length > 0 ? "it holds a second file." : `it has a file named ${part.fieldname}.`;
      throw fail("malformed_form", { reason, param: part.fieldname });
    } else {
      files.push(
        await consume({
          name: decodeFileName(part.filename),
          type: declaredType(part.mimetype),
          body: part.file,
        }),
      );
    }
  }
  return { fields, file: files[0] };
}

/** Browsers percent-encode quotation marks, which would end the name. */
function decodeFileName(name: string | undefined): string | undefined {
  return name?.replaceAll("%22", '"');
}

/**
 * By the standard, a part without a type is text/plain, and the parser reports this type. Many clients send
 * no type whatever the file is, so text/plain counts as unknown.
 */
export function declaredType(type: string): string | undefined {
  return type === "text/plain" ? undefined : type;
}

/** Whether the parser rejected the form, or the client disconnected. */
function isParserError(error: unknown): error is Error {
  if (!(error instanceof Error)) {
    return false;
  }
  const code = "code" in error ? String(error.code) : "";
  return (
    /^FST_|^ECONNRESET$|^ERR_STREAM_PREMATURE_CLOSE$/.test(code) ||
    /multipart|terminated/i.test(error.message)
  );
}
