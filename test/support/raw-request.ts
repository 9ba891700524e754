/** Sends bytes to the app that no HTTP client would send. */
import { connect } from "node:net";

export interface RawAnswer {
  readonly status: number;
  /** By name in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** Sends a request, byte for byte in Latin-1, and resolves with the first answer. */
export function sendRaw(address: string, request: string): Promise<RawAnswer> {
  return new Promise((resolve, reject) => {
    const socket = connect(Number(new URL(address).port), "127.0.0.1");
    let answer = "";
    socket.on("data", (chunk) => {
      answer += chunk.toString("latin1");
      const [head = "", body] = answer.split("\r\n\r\n");
      const length = request.startsWith("HEAD ") ? 0 : Number(/^content-length: (\d+)/im.exec(head)?.[1]);
      if (body !== undefined && !(body.length < length)) {
        socket.destroy();
        const headers = [...head.matchAll(/^([\w-]+): *(.*?)\r?$/gm)].map(([, name = "", value]) => [
          name.toLowerCase(),
          value,
        ]);
        resolve({ status: Number(head.split(" ")[1]), headers: Object.fromEntries(headers), body });
      }
    });
    socket.once("error", reject);
    socket.once("end", () => reject(new Error(`the connection ended without an answer: ${answer}`)));
    socket.write(request, "latin1");
  });
}
