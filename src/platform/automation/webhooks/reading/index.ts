/** Reads the recorded events: a page at a time, or as a stream. */

export { readEvents } from "./list-events.ts";
export { polledDays, recordPolled } from "./polled.ts";
export { presenceRoute } from "./presence.ts";
export { eventStreamRoute } from "./stream-route.ts";
