/** Decides where a change is reported to, and lets the faults delay, repeat, reorder and batch it. */
import type { Clock } from "../clock.ts";
import type { Faults } from "../faults.ts";
import { findNode, type Store } from "../state/store.ts";
import { type Change, Deliverer, type Target } from "./deliver.ts";

/** A batch has at most as many changes as one of Meta's. */
const maxBatch = 1_000;

export interface Webhooks {
  readonly deliverer: Pick<Deliverer, "log" | "forget" | "idle" | "stop">;
  /** Reports changes to every app that is subscribed to their account and has a callback address. */
  emit(changes: readonly Change[]): void;
}

interface Batch {
  readonly target: Target;
  readonly changes: Change[];
}

export function createWebhooks(clock: Clock, store: Store, faults: Faults): Webhooks {
  const deliverer = new Deliverer(clock);
  const send = createBatcher(clock, faults, (target, changes) => deliverer.deliver(target, changes));
  const later = (delayMs: number, run: () => void) => (delayMs === 0 ? run() : clock.after(delayMs, run));
  return {
    deliverer,
    emit(changes) {
      const { delay_ms, reorder_ms } = faults.settings.webhooks;
      for (const { fields, ...target } of targetsOf(store, changes[0]?.account_id ?? "")) {
        const reported = changes.filter(({ field }) => fields?.includes(field) ?? true);
        if (reported.length === 0) {
          continue;
        }
        const delay = delay_ms + (faults.hits("webhooks.reordered") ? reorder_ms : 0);
        later(delay, () => send(target, reported));
        if (faults.hits("webhooks.doubled")) {
          later(delay, () => send(target, reported));
        }
      }
    },
  };
}

/** Returns a function that collects the changes of a time in one delivery, if the faults say so. */
function createBatcher(clock: Clock, faults: Faults, deliver: Deliverer["deliver"]): Deliverer["deliver"] {
  const batches = new Map<string, Batch>();
  const flush = (key: string) => {
    const batch = batches.get(key);
    batches.delete(key);
    if (batch) {
      deliver(batch.target, batch.changes);
    }
  };
  return (target, changes) => {
    const { batch_ms } = faults.settings.webhooks;
    if (batch_ms === 0) {
      deliver(target, changes);
      return;
    }
    const key = `${target.secret} ${target.url}`;
    const batch = batches.get(key) ?? { target, changes: [] };
    if (!batches.has(key)) {
      batches.set(key, batch);
      clock.after(batch_ms, () => flush(key));
    }
    batch.changes.push(...changes);
    if (batch.changes.length >= maxBatch) {
      flush(key);
    }
  };
}

interface SubscribedApp extends Target {
  /** Null: all. */
  readonly fields: readonly string[] | null;
}

function targetsOf(store: Store, accountId: string): SubscribedApp[] {
  const account = findNode(store, "account", accountId);
  return [...(account?.subscriptions ?? [])].flatMap(([appId, { override_callback_uri }]) => {
    const app = findNode(store, "app", appId);
    const url = override_callback_uri ?? app?.callback_url;
    return app && url ? { url, secret: app.secret, fields: app.fields } : [];
  });
}
