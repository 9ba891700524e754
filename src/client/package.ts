/**
 * What the package exports as `tidings/client`: the client, and every operation by name.
 *
 * `createClient({ baseUrl, key }).call(operations.send_message, { to, type: "text", text: { body } })`
 */

export type { InputOf, Operation, OutputOf } from "../../tools/contract/index.ts";
export { catalogue as operations } from "../../tools/index.ts";
export {
  CallFailure,
  type CallOptions,
  type Client,
  type ClientOptions,
  createClient,
  type FileToSend,
  NoResponseError,
} from "./index.ts";
