/**
 * Multipart forms: handed to the platform as they come, so that no file is ever whole in memory.
 *
 * The parser reads on only as fast as the file is taken. When a form is given up half-way, what is left of
 * it is read and dropped, so that the refusal reaches a sender who is still sending.
 */
import multipart from "@fastify/multipart";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { Failure, type Operation, readFields } from "../../tools/contract/index.ts";
import { fail } from "../../tools/errors.ts";
import { maxUploadBytes } from "../../tools/uploads.ts";
import type { Platform } from "../platform/index.ts";

type Form = NonNullable<Parameters<Platform["call"]>[0]["form"]>;

/** For the fields and the boundaries beside the file. */
const othersBytes = 64 * 1024;

/** Longer than any field but `content_base64` may be, and a file has a part of its own here. */
const fieldBytes = 4096;

/** One file more than there may be, so that a second one is refused in our words. The file is counted by whoever takes it. */
const limits = {
  files: 2,
  fields: 16,
  parts: 20,
  fieldNameSize: 100,
  fieldSize: fieldBytes,
  fileSize: Number.POSITIVE_INFINITY,
};

export async function acceptForms(app: FastifyInstance): Promise<void> {
  await app.register(multipart, { limits, throwFileSizeLimit: false });
}

/** The request's form; undefined for a request of another type. */
export function formOf(operation: Operation, request: FastifyRequest): Form | undefined {
  if (operation.encoding !== "multipart" || !request.isMultipart()) {
    return undefined;
  }
  return {
    async read(take) {
      if (Number(request.headers["content-length"]) > maxUploadBytes + othersBytes) {
        throw fail("file_too_large", { limit: maxUploadBytes, param: "file" });
      }
      try {
        const { file, fields } = await readParts(request, take);
        return { file, fields: readFields(operation.input, fields) };
      } catch (error) {
        request.raw.unpipe();
        request.raw.resume();
        throw error instanceof Failure || !isOfForm(error)
          ? error
          : fail("malformed_form", { reason: `${error.message}.` }, error);
      }
    },
  };
}

async function readParts<Taken>(
  request: FastifyRequest,
  take: (file: Parameters<Parameters<Form["read"]>[0]>[0]) => Promise<Taken>,
) {
  const fields: Record<string, unknown> = {};
  const files: Taken[] = [];
  for await (const part of request.parts()) {
    if (part.type === "field") {
      // The parser has cut it: what is left would be taken for the whole.
      if (part.valueTruncated) {
        const reason = `its field ${part.fieldname} is longer than ${fieldBytes} bytes.`;
        throw fail("malformed_form", { reason, param: part.fieldname });
      }
      fields[part.fieldname] = part.value;
    } else if (part.fieldname !== "file" || files.length > 0) {
      const reason = files.length > 0 ? "it holds a second file." : `it has a file named ${part.fieldname}.`;
      throw fail("malformed_form", { reason, param: part.fieldname });
    } else {
      files.push(
        await take({ name: plainName(part.filename), type: saidType(part.mimetype), body: part.file }),
      );
    }
  }
  return { fields, file: files[0] };
}

/** Browsers write a quotation mark in percent, since it would end the name. */
function plainName(name: string | undefined): string | undefined {
  return name?.replaceAll("%22", '"');
}

/**
 * The type of a part that names none is text by the rules of forms, and the parser says so. Many clients name
 * none, whatever the file is: so text says nothing here.
 */
function saidType(type: string): string | undefined {
  return type === "text/plain" ? undefined : type;
}

/** What the parser says of a form, and of a sender who is gone. */
function isOfForm(error: unknown): error is Error {
  const { code = "", message = "" } = error as { code?: string; message?: string };
  return (
    /^FST_|^ECONNRESET$|^ERR_STREAM_PREMATURE_CLOSE$/.test(code) || /multipart|terminated/i.test(message)
  );
}
