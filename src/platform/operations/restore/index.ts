/**
 * An installation that was restored from a backup is held: it runs no job and answers no request until the
 * operator releases it.
 */

export { RepeatInput, repeatErasures } from "./erasures.ts";
export { hasOrganizations, holdRestored, openHold, type RestoreHold } from "./hold.ts";
export { ReleaseInput, type ReleaseReport, releaseRestored } from "./release.ts";
