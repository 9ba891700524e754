/** HTTP routes that an adapter offers, such as the simulator's controls; each acts for the organization of the API key. */

export interface AdapterRequest {
  /** The organization of the credential. */
  readonly organization_id: string;
  /** The placeholders of the path, decoded. */
  readonly params: Readonly<Record<string, unknown>>;
  readonly query: Readonly<Record<string, unknown>>;
  /** The JSON body; undefined if there is none. */
  readonly body: unknown;
}

/** A response, or the invalid field of the request and what is wrong with it; an empty field is the whole body. */
export type AdapterResponse =
  | { readonly status: number; readonly body: Readonly<Record<string, unknown>> }
  | { readonly invalid: { readonly field: string; readonly message: string } };

export interface AdapterRoute {
  readonly method: "GET" | "POST" | "PUT";
  /** With placeholders in braces: `/simulator/phones/{number}/messages`. */
  readonly path: string;
  handle(request: AdapterRequest): Promise<AdapterResponse>;
}
