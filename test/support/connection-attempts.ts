/** Records the address of every connection that this process attempts, at the socket itself. */
import { Socket } from "node:net";

export interface ConnectionAttempts extends Disposable {
  readonly addresses: readonly string[];
  /** Forgets the recorded addresses. */
  clear(): void;
}

export function recordConnectionAttempts(): ConnectionAttempts {
  const addresses: string[] = [];
  const original = Socket.prototype.connect;
  Socket.prototype.connect = function connect(this: Socket, ...args: unknown[]) {
    this.on("connectionAttempt", (address: string) => addresses.push(address));
    // Passes on the arguments of every overload.
    return Reflect.apply(original, this, args) as Socket;
  };
  return {
    addresses,
    clear() {
      addresses.length = 0;
    },
    [Symbol.dispose]() {
      Socket.prototype.connect = original;
    },
  };
}
