/** Bodies of requests: how they are received, limited, parsed and dropped. */

export { drainRequest } from "./drain.ts";
export { addJsonParser, createJsonReader, type ReadJsonBody } from "./json-body.ts";
export { createLargeBodies } from "./large-bodies.ts";
export { createBodyReceiver, type ReceiveBody } from "./receive.ts";
