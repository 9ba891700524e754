/** The HTTP client of the adapters. */
export {
  exchange,
  type HttpAnswer,
  type HttpHeaders,
  type HttpRequest,
  loadClient,
  openAnswer,
} from "./exchange.ts";
export { fetchJson, type JsonAnswer, parseForm } from "./json.ts";
export { readRetryAfter, repeatAfterErrors, waitAfter } from "./retry.ts";
