/** A request to the Graph API, after its token was checked and its object found. */
import type { IncomingHttpHeaders } from "node:http";
import type { Fields } from "../contract/validate.ts";
import type { Answer } from "../http/answer.ts";
import type { Token } from "../state/store.ts";
import type { World } from "../world.ts";

export interface GraphRequest<Node> {
  readonly world: World;
  readonly node: Node;
  readonly token: Token;
  /** For example v25.0. */
  readonly version: string;
  readonly query: URLSearchParams;
  readonly headers: IncomingHttpHeaders;
  /** @throws GraphError for a body that is no JSON object. */
  readJson(): Promise<Fields>;
  readBytes(): Promise<Buffer>;
}

export type Handler<Node> = (request: GraphRequest<Node>) => Answer | Promise<Answer>;
