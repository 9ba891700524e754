/** The organization's keys, and one of them. */
import { type Answer, call } from "../../service/call.ts";
import { ServiceError } from "../../service/errors.ts";
import { texts } from "../../texts.ts";

export type ApiKey = Answer<"list_api_keys">["data"][number];

/** The newest first. */
export async function readKeys(): Promise<readonly ApiKey[]> {
  return (await call("list_api_keys", {})).data;
}

/** @throws ServiceError `api_key_not_found` */
export async function readKey(id: string): Promise<ApiKey> {
  const key = (await readKeys()).find((one) => one.id === id);
  if (key === undefined) {
    throw new ServiceError(404, "api_key_not_found", texts.settings.keys.notFound);
  }
  return key;
}
