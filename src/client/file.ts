/**
 * The file of a call: passed as an option, or as `content_base64` with `file_name` and an optional
 * `content_type`.
 */
import type { Operation } from "../../tools/contract/index.ts";
import type { OperationRequest, OutgoingFile } from "../ports/transport/operation-request.ts";

/** A file that is sent with the fields of a call. */
export type FileToSend = Omit<OutgoingFile, "type">;

/**
 * Takes the file out of the input of an operation that receives a file. Without a file, all fields are sent
 * as JSON.
 */
export function takeFile(
  { encoding }: Partial<Pick<Operation, "encoding">>,
  input: Readonly<Record<string, unknown>>,
  fileToSend: FileToSend | undefined,
): Pick<OperationRequest, "fields" | "file"> {
  const { content_base64, ...others } = input;
  const file =
    encoding === "multipart" ? (fileToSend ?? fromBase64(content_base64, input.file_name)) : undefined;
  if (!file) {
    return { fields: input, file: undefined };
  }
  const { file_name = file.name, content_type = "application/octet-stream", ...fields } = others;
  const { size } = file;
  return {
    fields,
    file: { name: String(file_name), type: String(content_type), size, open: () => file.open() },
  };
}

function fromBase64(content: unknown, name: unknown): FileToSend | undefined {
  if (content === undefined || content === null) {
    return undefined;
  }
  const bytes = Buffer.from(String(content), "base64");
  const open = async function* () {
    yield bytes;
  };
  return { name: String(name ?? "file"), size: bytes.length, open };
}
