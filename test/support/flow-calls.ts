/** Flows that call an HTTP endpoint, and their runs. */
import type { Modules } from "../../src/platform/index.ts";
import type { SendRequest, Web, WebResponse } from "../../src/ports/web.ts";
import { flows } from "../../tools/flows/index.ts";
import type { TestApp } from "./app.ts";
import { createFlowHelpers, type NewNode, say, textsOf } from "./flows.ts";
import { modulesWithRareUpkeep } from "./rare-upkeep.ts";
import { openPhone } from "./simulator.ts";
import { createWorldProbe } from "./world.ts";

export const localSources = { TIDINGS_ALLOW_LOCAL_SOURCES: "true" };

/** A node with the id call, and a text below each of its edges: done, or failed. */
export function callNodes(action_config: NewNode["action_config"], done = "done"): NewNode[] {
  return [
    { id: "call", node_type: "http_request", action_config },
    { ...say(done, "done"), parent_node_id: "call" },
    { ...say("failed", "failed"), parent_node_id: "call", connection_type: "error" },
  ];
}

let numbers = 0;

export function createCallHelpers(app: TestApp) {
  const { create, runsOf } = createFlowHelpers(app);
  return {
    runsOf,
    /** Each is started by a keyword of its own, unless told otherwise. */
    create(nodes: NewNode[], fields: Parameters<typeof create>[1] = {}) {
      numbers += 1;
      return create(nodes, { trigger_keyword: `start ${numbers}`, trigger_match: "exact", ...fields });
    },
    /** A contact starts the flow in a new conversation: by its keyword, unless told otherwise. */
    async start(flow_id: string, { text, name = "Grace" }: { text?: string; name?: string } = {}) {
      const { data: flow } = await app.call(flows.get_flow, { id: flow_id });
      numbers += 1;
      const number = `+1415557${String(numbers).padStart(4, "0")}`;
      const phone = openPhone(app, number);
      const { conversation_id } = await phone.write(text ?? flow.trigger_keyword ?? "", { name });
      return {
        phone,
        number,
        conversation_id,
        async run() {
          await app.runDueJobs();
          const run = (await runsOf(conversation_id)).find((one) => one.flow_id === flow_id);
          return { run, texts: textsOf(await phone.listMessages()) };
        },
      };
    },
  };
}

/** Lets a test take the place of the web between the job and the endpoint. */
export function createWebProbe() {
  const { probe, readWorld } = createWorldProbe();
  const enabledModules: Modules = { ...modulesWithRareUpkeep("flows"), probe };
  return {
    enabledModules,
    readWorld,
    /** Until the returned function is called. */
    async replaceSend(
      app: TestApp,
      send: (request: SendRequest, web: Web) => Promise<WebResponse>,
    ): Promise<() => void> {
      const world = await readWorld(app);
      const { web } = world;
      Object.assign(world, {
        web: { check: web.check, download: web.download, send: (request: SendRequest) => send(request, web) },
      });
      return () => {
        Object.assign(world, { web });
      };
    },
  };
}
