/** The operations of the Graph API: by kind of object, then by method and edge. */
import { GraphError, unknownObject } from "../contract/graph-error.ts";
import { type Answer, json } from "../http/answer.ts";
import { sendMessage } from "../sending/send.ts";
import {
  type Account,
  type App,
  accountOf,
  type Media,
  type Node,
  nodesOf,
  type Phone,
  type Token,
} from "../state/store.ts";
import type { Template } from "../state/template.ts";
import { createTemplate, deleteTemplates, editTemplate, unpauseTemplate } from "../templates/change.ts";
import { listTemplates } from "../templates/list.ts";
import type { World } from "../world.ts";
import { debugToken } from "./debug-token.ts";
import { describe, selectFields } from "./describe.ts";
import { deleteMedia, getMedia, uploadMedia } from "./media.ts";
import { registerPhone } from "./register.ts";
import type { GraphRequest, Handler } from "./request.ts";
import { listSubscribedApps, subscribeApp, unsubscribeApp } from "./subscribed-apps.ts";
import { listSubscriptions, subscribeToObject } from "./subscriptions.ts";
import { continueUpload, findUpload, getUpload, startUpload } from "./uploads.ts";

type Routes<Kind> = Readonly<Record<string, Handler<Kind>>>;

const apps: Routes<App> = {
  GET: getNode,
  "POST uploads": startUpload,
  "GET subscriptions": listSubscriptions,
  "POST subscriptions": subscribeToObject,
};

const accounts: Routes<Account> = {
  GET: getNode,
  "GET phone_numbers": listPhones,
  "GET subscribed_apps": listSubscribedApps,
  "POST subscribed_apps": subscribeApp,
  "DELETE subscribed_apps": unsubscribeApp,
  "GET message_templates": listTemplates,
  "POST message_templates": createTemplate,
  "DELETE message_templates": deleteTemplates,
};

const phones: Routes<Phone> = {
  GET: getNode,
  "POST messages": sendMessage,
  "POST media": uploadMedia,
  "POST register": registerPhone,
};

const media: Routes<Media> = { GET: getMedia, DELETE: deleteMedia };

const templates: Routes<Template> = {
  GET: getNode,
  POST: editTemplate,
  "POST unpause": unpauseTemplate,
};

export interface Operation {
  readonly method: string;
  /** Path after the version. */
  readonly path: readonly string[];
  readonly request: Omit<GraphRequest<never>, "node">;
}

/** @throws GraphError */
export function runOperation({ method, path, request }: Operation): Answer | Promise<Answer> {
  const [id = "", edge, ...rest] = path;
  const { world, token } = request;
  if (id.startsWith("upload:")) {
    const node = findUpload(world, id, method);
    return method === "POST" ? continueUpload({ ...request, node }) : getUpload({ ...request, node });
  }
  if (method === "GET" && path.join("/") === "debug_token") {
    return debugToken(request);
  }
  if (!/^\d+$/.test(id) || rest.length > 0) {
    throw new GraphError(2500, undefined, {
      title: `Unknown path components: /${path.join("/")}`,
      http: 400,
    });
  }
  const node = world.store.nodes.get(id);
  const key = edge === undefined ? method : `${method} ${edge}`;
  const run = node && mayAccess(world, token, node) ? bind(node, key) : undefined;
  if (!run) {
    throw unknownObject(method, id);
  }
  requirePermission(token, key);
  return run(request);
}

type UnboundRequest = Operation["request"];

/** The handler of a node's kind, with the node. */
function bind(node: Node, key: string): ((request: UnboundRequest) => Answer | Promise<Answer>) | undefined {
  const of = <Kind extends Node>(routes: Routes<Kind>, one: Kind) => {
    const handler = Object.hasOwn(routes, key) ? routes[key] : undefined;
    return handler && ((request: UnboundRequest) => handler({ ...request, node: one }));
  };
  if (node.kind === "app") {
    return of(apps, node);
  }
  if (node.kind === "account") {
    return of(accounts, node);
  }
  if (node.kind === "phone") {
    return of(phones, node);
  }
  return node.kind === "media" ? of(media, node) : of(templates, node);
}

/** The operations that need the permission to send; all others need the one to manage. */
const messagingKeys = ["POST messages", "POST media"];

/** The token of an app has the permissions of the app. @throws GraphError 10, 200 */
function requirePermission({ kind, permissions }: Token, key: string): void {
  const isMessaging = messagingKeys.includes(key);
  const needed = isMessaging ? "whatsapp_business_messaging" : "whatsapp_business_management";
  if (kind === "user" && !permissions.includes(needed)) {
    const title = `Requires ${needed} permission to manage the object`;
    throw isMessaging
      ? new GraphError(10, undefined, { title: "Application does not have permission for this action" })
      : new GraphError(200, undefined, { title });
  }
}

/** A token is valid for its accounts and its app. */
function mayAccess({ store }: World, token: Token, node: Node): boolean {
  if (node.kind === "app") {
    return node.id === token.app_id;
  }
  return token.account_ids.has(accountOf(store, node)?.id ?? "");
}

function getNode({ world, node, query }: GraphRequest<Node>): Answer {
  return json(selectFields(describe(world, node), query));
}

function listPhones({ world, node: account, query }: GraphRequest<Account>): Answer {
  const data = nodesOf(world.store, "phone")
    .filter(({ account_id }) => account_id === account.id)
    .map((phone) => selectFields(describe(world, phone), query));
  const ids = data.map(({ id }) => Buffer.from(String(id)).toString("base64url"));
  return json({ data, paging: { cursors: { before: ids[0] ?? "", after: ids.at(-1) ?? "" } } });
}
