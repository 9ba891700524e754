/** The HTTP client of the adapters. */
export {
  type ClientAnswer,
  type ClientRequest,
  exchange,
  type HttpHeaders,
  loadClient,
  openAnswer,
  sendOnce,
} from "./exchange.ts";
export { fetchJson, type JsonAnswer, parseForm } from "./json.ts";
export { readRetryAfter, repeatAfterErrors, waitAfter } from "./retry.ts";
