/** Listener jobs: an event runs one job for each module that listens to it. */
import { z } from "zod";
import { type Event, type EventName, events } from "../../../tools/events.ts";
import type { ModuleJob } from "./job.ts";
import type { Listeners } from "./module.ts";

/** The listener jobs of a module, by the name of their event. */
export function listenerJobsOf(module: string, on: Listeners): ReadonlyMap<EventName, ModuleJob<Event>> {
  const names = Object.keys(on).filter((name): name is EventName => Object.hasOwn(events, name));
  return new Map(names.map((name) => [name, createListenerJob(module, name, on[name])]));
}

function createListenerJob<Name extends EventName>(
  module: string,
  event: Name,
  listen: Listeners[Name],
): ModuleJob<Event<Name>> {
  return {
    name: `${module}:${event}`,
    payload: eventSchema(event),
    async run(payload, world, attempt) {
      await listen?.(payload, world, attempt);
      return undefined;
    },
  };
}

function eventSchema<Name extends EventName>(type: Name): z.ZodType<Event<Name>> {
  const schema = z.object({
    id: z.string(),
    type: z.literal(type),
    organization_id: z.string(),
    created_at: z.string(),
    data: events[type].data,
  });
  // TypeScript does not resolve the type of `events[type].data` while `Name` is a type parameter.
  return schema as unknown as z.ZodType<Event<Name>>;
}
