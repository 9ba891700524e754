/** The operations of the catalogue: served over REST, and to callers within the process. */
export { createInProcessService, type InProcessService } from "./in-process.ts";
export { nearRoutes } from "./near-routes.ts";
export { addOperations, toUrl } from "./router.ts";
export { createServeOperation, hasQuery } from "./serve.ts";
