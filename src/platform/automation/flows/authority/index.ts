/** Under which scopes a flow acts, and what happens when its creator has lost one. */
export { heldScopes, lostScopes } from "./held.ts";
export { createSwitchOffJob, switchOffJobType } from "./job-type.ts";
export { requiredScopes, scopesOfNodes } from "./required.ts";
