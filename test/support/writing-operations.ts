/** The operations that an erasure must know: those that write about a contact or a conversation. */
import { operationsOf } from "../../src/platform/index.ts";

export function listWritingOperations() {
  return Object.entries(operationsOf()).filter(([, { effect, input, scope }]) => {
    const isAbout = Object.entries(input.shape).some(
      ([name, field]) => name === "to" || /^(?:Contact|Conversation) id/.test(field.description ?? ""),
    );
    const isContactScope = typeof scope === "string" && scope.startsWith("contacts:");
    return effect !== "read" && (isAbout || isContactScope);
  });
}
