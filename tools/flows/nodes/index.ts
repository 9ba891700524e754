/**
 * Every type of node that a flow can have.
 *
 * To add a type, declare it in the file of its group, or in a new file that is spread below, and add its
 * handler to the group of the same name in `src/platform/automation/flows/nodes/`; the compiler reports a
 * missing handler. The schemas, the validation, the scopes and the rehearsal need no change.
 */
import type { z } from "zod";
import { changeNodes } from "./changes.ts";
import { controlNodes } from "./control.ts";
import { httpNodes } from "./http.ts";
import { messageNodes } from "./messages.ts";
import type { NodeDeclaration } from "./node.ts";

export { callErrors, type HttpMethod, httpMethods, maxSecretsLength } from "./http.ts";
export { type AnswerType, answerTypes, type Validation } from "./messages.ts";
export {
  type ConnectionType,
  connectionTypes,
  duration,
  durationMs,
  type NodeDeclaration,
} from "./node.ts";

const declarations = { ...messageNodes, ...controlNodes, ...changeNodes, ...httpNodes };

export type NodeType = keyof typeof declarations;

/** The parsed action_config of a type of node. */
export type NodeConfig<Type extends NodeType = NodeType> = z.output<(typeof declarations)[Type]["config"]>;

export const nodes: { readonly [Type in NodeType]: NodeDeclaration<(typeof declarations)[Type]["config"]> } =
  declarations;

/** The keys of the table above. */
export const nodeTypes = Object.keys(declarations) as readonly NodeType[] as readonly [
  NodeType,
  ...NodeType[],
];
