/** Who made a call. */
import { session } from "../session/session.ts";
import { texts } from "../texts.ts";
import type { Act } from "./act.ts";

export function describeAgent({ type, id, name }: Act["by"]): string {
  if (type === "user") {
    return id === session.value?.user.id ? texts.senders.you : name;
  }
  return type === "api_key" ? texts.senders.key(name) : (texts.activity.by[type] ?? name);
}
