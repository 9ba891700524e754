/** Controls of the emulator as a whole: what it has, its clock, its faults, and the way back to the start. */
import { z } from "zod";
import { FaultSettings } from "../faults.ts";
import { resetStore } from "../state/setup.ts";
import { nodesOf } from "../state/store.ts";
import { ReviewSettings } from "../templates/review-settings.ts";
import { type ControlRequest, parse } from "./input.ts";

export function getOverview({ world }: ControlRequest): object {
  const { store, clock } = world;
  return {
    now: new Date(clock.now()).toISOString(),
    apps: nodesOf(store, "app").map(({ id, name, secret, verify_token, callback_url }) => ({
      app_id: id,
      name,
      app_secret: secret,
      verify_token,
      callback_url,
    })),
    accounts: nodesOf(store, "account").map(({ id, name, subscriptions }) => ({
      waba_id: id,
      name,
      subscriptions: [...subscriptions].map(([app_id, one]) => ({ app_id, ...one })),
    })),
    phone_numbers: nodesOf(store, "phone").map(({ kind: _, id, account_id, number, ...phone }) => ({
      phone_number_id: id,
      waba_id: account_id,
      phone_number: `+${number}`,
      ...phone,
    })),
    tokens: [...store.tokens.values()].map(({ value, app_id, account_ids, expires_at }) => ({
      access_token: value,
      app_id,
      waba_ids: [...account_ids],
      expires_at: expires_at === null ? null : new Date(expires_at).toISOString(),
    })),
    customers: [...store.customers.values()].map(({ threads: _, ...customer }) => customer),
  };
}

/**
 * Back to the start: no messages, templates, customers and faults, no callback address, and no more retries.
 */
export function reset(request: ControlRequest): object {
  const { world } = request;
  resetStore(world, world.settings);
  world.webhooks.deliverer.forget();
  world.links.forget();
  world.faults.replace(FaultSettings.parse({}));
  world.review = ReviewSettings.parse({});
  return getOverview(request);
}

const Advance = z.strictObject({
  advance_ms: z
    .number()
    .int()
    .min(0)
    .max(366 * 86_400_000),
});

/** What becomes due meanwhile happens at once: reviews, ends of pauses and retries of webhooks. */
export function advanceClock({ world, body }: ControlRequest): object {
  world.clock.advance(parse(Advance, body).advance_ms);
  return { now: new Date(world.clock.now()).toISOString() };
}

export function getFaults({ world }: ControlRequest): object {
  return world.faults.settings;
}

/** Replaces all faults; `{}` removes them. */
export function putFaults({ world, body }: ControlRequest): object {
  world.faults.replace(parse(FaultSettings, body));
  return world.faults.settings;
}
