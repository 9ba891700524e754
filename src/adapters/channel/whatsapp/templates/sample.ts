/** Uploads the sample of a media header by Meta's resumable upload, which returns a handle. */
import { z } from "zod";
import type { ChannelFile } from "../../../../ports/channel/message-content.ts";
import { type Api, askGraph, type GraphAnswer, parseAnswer, segment } from "../http.ts";

const Session = z.object({ id: z.string().regex(/^upload:[\w:+/=?&%.-]{1,2000}$/) });
const Handle = z.object({ h: z.string().min(1).max(10_000) });

/** The handle, or the answer that rejects the sample; undefined if the file does not exist any more. */
export async function uploadSample(
  api: Api,
  app_id: string,
  file: ChannelFile,
): Promise<string | Extract<GraphAnswer, { outcome: "rejected" }> | undefined> {
  const content = await file.read();
  if (!content) {
    return undefined;
  }
  const query = new URLSearchParams({
    file_name: file.key.split("/").at(-1) ?? "sample",
    file_length: String(file.size),
    file_type: file.content_type,
  });
  const session = await askGraph(api, { method: "POST", path: `/${segment(app_id)}/uploads?${query}` });
  if (session.outcome === "rejected") {
    return session;
  }
  const { id } = parseAnswer(Session, session.value);
  const uploaded = await askGraph(api, {
    method: "POST",
    path: `/${id}`,
    body: content,
    timeoutMs: 15_000,
    headers: {
      authorization: `OAuth ${api.credentials.access_token}`,
      "content-type": "application/octet-stream",
      "content-length": String(file.size),
      file_offset: "0",
    },
  });
  return uploaded.outcome === "rejected" ? uploaded : parseAnswer(Handle, uploaded.value).h;
}
