/**
 * Puts the list of tools, written once, into the answers that carry it.
 *
 * The protocol's library writes each answer anew, and writing 66 kB is a third of what a list costs (150
 * of 510 µs of CPU). So the handler answers an empty list, and hands the text over apart.
 */
import type { AuthInfo, McpHttpHandler } from "@modelcontextprotocol/server";

type Fetch = McpHttpHandler["fetch"];

/** Where the handler puts the list's text; undefined where it must answer the list itself. */
export interface ListHolder {
  text?: string;
}

/** Stands nowhere else in an answer: in a text, its quotes would be escaped. */
const emptyList = '"tools":[]';

export function spliceLists(fetch: Fetch): Fetch {
  return async (request, options) => {
    const { authInfo, parsedBody } = options ?? {};
    if (!authInfo || !asksForList(parsedBody)) {
      return fetch(request, options);
    }
    const holder: ListHolder = {};
    const answer = await fetch(request, { ...options, authInfo: withHolder(authInfo, holder) });
    if (answer.body === null) {
      return answer;
    }
    // Read to its end first: where it is a stream of events, the list is made while it is read.
    const written = await answer.text();
    const { status, headers } = answer;
    return new Response(fill(written, holder), { status, headers });
  };
}

/** One request: the parts of a batch are answered in one text, and share what they are given. */
function asksForList(body: unknown): boolean {
  return typeof body === "object" && body !== null && "method" in body && body.method === "tools/list";
}

function withHolder(authInfo: AuthInfo, holder: ListHolder): AuthInfo {
  return { ...authInfo, extra: { ...authInfo.extra, holder } };
}

function fill(written: string, { text }: ListHolder): string {
  return text === undefined ? written : written.replace(emptyList, () => `"tools":${text}`);
}
