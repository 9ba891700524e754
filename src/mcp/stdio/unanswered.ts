/** The requests of the input that are not answered yet. */
import { StdioServerTransport } from "@modelcontextprotocol/server/stdio";

/** A call may run long, and a subscription is answered when it ends. */
const lastingMethods: ReadonlySet<unknown> = new Set(["tools/call", "subscriptions/listen"]);

export interface UnansweredRequests {
  /** @param message a valid message that is passed on. A request that it cancels gets no answer. */
  add(message: unknown): void;
  answered(id: unknown): void;
  /** Resolves when all requests are answered but those that may last. Await it once. */
  settled(): Promise<void>;
}

interface Message {
  readonly id?: unknown;
  readonly method?: unknown;
  readonly params?: { readonly requestId?: unknown };
}

export function createUnansweredRequests(): UnansweredRequests {
  const ids = new Set<unknown>();
  let onSettled: (() => void) | undefined;
  const answered = (id: unknown) => {
    ids.delete(id);
    if (ids.size === 0) {
      onSettled?.();
    }
  };
  return {
    add(message) {
      const { id, method, params } = message as Message;
      if (method === "notifications/cancelled") {
        answered(params?.requestId);
      } else if (id !== undefined && method !== undefined && !lastingMethods.has(method)) {
        ids.add(id);
      }
    },
    answered,
    settled: () =>
      new Promise((resolve) => {
        onSettled = resolve;
        if (ids.size === 0) {
          resolve();
        }
      }),
  };
}

type SentMessage = Parameters<StdioServerTransport["send"]>[0];

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

  override async send(message: SentMessage): Promise<void> {
    await super.send(message);
    if ("id" in message && !("method" in message)) {
      this.#unanswered.answered(message.id);
    }
  }
}
