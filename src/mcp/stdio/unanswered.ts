/** The requests of the input that are not answered yet. */
import { StdioServerTransport } from "@modelcontextprotocol/server/stdio";

/** A call may run long, and a subscription is answered when it ends. */
const lastingMethods: ReadonlySet<unknown> = new Set(["tools/call", "subscriptions/listen"]);

export interface UnansweredRequests {
  /** @param message a valid message that is passed on. */
  add(message: unknown): void;
  answered(id: unknown): void;
  /** Resolves when all requests are answered but those that may last. Await it once. */
  settled(): Promise<void>;
}

export function createUnansweredRequests(): UnansweredRequests {
  const ids = new Set<unknown>();
  let onSettled: (() => void) | undefined;
  return {
    add(message) {
      const { id, method } = message as { readonly id?: unknown; readonly method?: unknown };
      if (id !== undefined && method !== undefined && !lastingMethods.has(method)) {
        ids.add(id);
      }
    },
    answered(id) {
      ids.delete(id);
      if (ids.size === 0) {
        onSettled?.();
      }
    },
    settled: () =>
      new Promise((resolve) => {
        onSettled = resolve;
        if (ids.size === 0) {
          resolve();
        }
      }),
  };
}

type Message = Parameters<StdioServerTransport["send"]>[0];

/** Tells which requests it has answered. */
export class AnsweringTransport extends StdioServerTransport {
  readonly #unanswered: UnansweredRequests;

  constructor(
    unanswered: UnansweredRequests,
    ...[stdin, stdout, options]: ConstructorParameters<typeof StdioServerTransport>
  ) {
    super(stdin, stdout, options);
    this.#unanswered = unanswered;
  }

  override async send(message: Message): Promise<void> {
    await super.send(message);
    if ("id" in message && !("method" in message)) {
      this.#unanswered.answered(message.id);
    }
  }
}
