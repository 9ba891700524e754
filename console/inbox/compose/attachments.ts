/** Files that are added to a reply: uploaded at once, with progress. */
import type { Signal } from "@preact/signals";
import { type Input, withToken } from "../../service/call.ts";
import { describeError } from "../../service/describe-error.ts";
import { ConnectionError } from "../../service/errors.ts";
import { toServiceError } from "../../service/request.ts";
import { texts } from "../../texts.ts";

export interface Attachment {
  readonly id: string;
  readonly name: string;
  readonly mediaType: string;
  /** From 0 to 1. */
  readonly progress: number;
  /** The address of the stored file; empty until the upload has ended. */
  readonly url: string;
  readonly problem: string;
  /** The address of an image in this page; empty for other files. */
  readonly thumbnail: string;
}

const maxBytes = 32 * 1024 * 1024;

export function addFiles(attachments: Signal<readonly Attachment[]>, files: readonly File[]): void {
  for (const file of files) {
    const id = crypto.randomUUID();
    const problem = file.size > maxBytes ? texts.compose.fileTooLarge : "";
    const thumbnail = file.type.startsWith("image/") ? URL.createObjectURL(file) : "";
    const attachment = {
      id,
      name: file.name,
      mediaType: file.type,
      progress: 0,
      url: "",
      problem,
      thumbnail,
    };
    attachments.value = [...attachments.value, attachment];
    if (problem === "") {
      void uploadInto(attachments, id, file);
    }
  }
}

/** Takes these out of the files; the browser forgets their images. */
export function forgetFiles(
  attachments: Signal<readonly Attachment[]>,
  removed: readonly Attachment[],
): void {
  for (const { thumbnail } of removed) {
    URL.revokeObjectURL(thumbnail);
  }
  attachments.value = attachments.value.filter((attachment) => !removed.includes(attachment));
}

/** The type of the message that sends the file. */
export function attachmentType({
  mediaType,
}: Attachment): Extract<MessageType, "image" | "video" | "audio" | "document"> {
  const [kind] = mediaType.split("/");
  return kind === "image" || kind === "video" || kind === "audio" ? kind : "document";
}

type MessageType = Input<"send_message">["type"];

async function uploadInto(attachments: Signal<readonly Attachment[]>, id: string, file: File): Promise<void> {
  const change = (changes: Partial<Attachment>) => {
    attachments.value = attachments.value.map((one) => (one.id === id ? { ...one, ...changes } : one));
  };
  try {
    const url = await withToken((token) => upload(file, token, (progress) => change({ progress })));
    change({ url, progress: 1 });
  } catch (error) {
    change({ problem: describeError(error) });
  }
}

/** With XMLHttpRequest, because fetch reports no progress of an upload. */
function upload(file: File, token: string, onProgress: (part: number) => void): Promise<string> {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open("POST", "/v1/uploads");
    request.setRequestHeader("authorization", `Bearer ${token}`);
    request.responseType = "json";
    request.upload.onprogress = ({ loaded, total }) => onProgress(total > 0 ? loaded / total : 0);
    request.onerror = () => reject(new ConnectionError(undefined));
    request.onload = () => {
      const { status, response } = request;
      if (status === 201) {
        resolve(response.data.storage_url);
      } else {
        reject(toServiceError(status, response));
      }
    };
    const body = new FormData();
    body.append("file", file, file.name);
    request.send(body);
  });
}
