/** One HTTP request to the service, with its errors. */
import { ConnectionError, ServiceError } from "./errors.ts";

/** The body of an error of the service; a proxy may have sent something else. */
interface ErrorAnswer {
  readonly error?: { readonly code?: string; readonly message?: string; readonly fix?: string };
}

/**
 * Sends a request to this page's own origin.
 *
 * @throws ServiceError for an answer of 400 and above, ConnectionError without an answer.
 */
export async function request(path: string, options: RequestInit): Promise<Response> {
  const answer = await send(path, options);
  if (answer.ok) {
    return answer;
  }
  throw toServiceError(answer.status, await answer.json().catch(() => null));
}

/** @param body the parsed body; null if it is not JSON. */
export function toServiceError(status: number, body: ErrorAnswer | null): ServiceError {
  const { code = `http_${status}`, message, fix, ...facts } = body?.error ?? {};
  const text = [message, fix].filter(Boolean).join(" ");
  return new ServiceError(status, code, text || `The service answered with ${status}.`, facts);
}

async function send(path: string, options: RequestInit): Promise<Response> {
  try {
    return await fetch(path, { ...options, credentials: "same-origin", redirect: "error" });
  } catch (error) {
    if (options.signal?.aborted) {
      throw error;
    }
    throw new ConnectionError(error);
  }
}
