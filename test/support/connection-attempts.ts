/** Every connection that this process begins, by the address that it tries: seen at the socket itself. */
import { Socket } from "node:net";

export interface ConnectionAttempts extends Disposable {
  readonly addresses: readonly string[];
  /** Starts anew. */
  clear(): void;
}

export function recordConnectionAttempts(): ConnectionAttempts {
  const addresses: string[] = [];
  const original = Socket.prototype.connect;
  Socket.prototype.connect = function connect(this: Socket, ...given: unknown[]) {
    this.on("connectionAttempt", (address: string) => addresses.push(address));
    // The same arguments, whichever of its forms they are.
    return Reflect.apply(original, this, given) as Socket;
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
