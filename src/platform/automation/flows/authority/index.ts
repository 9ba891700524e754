/** The scopes with which a flow acts, and what happens when its creator loses one. */
export { heldScopes, lostScopes } from "./held.ts";
export { createSwitchOffJob, switchOffJobType } from "./job-type.ts";
export { requireAuthority, scopesOfNodes } from "./required.ts";
