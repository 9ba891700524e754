/** The requests that prepare a story of the console, at a service that runs as a process of its own. */
import { ownerEmail, ownerKey, ownerPassword } from "./app.ts";

interface Created {
  /** The members that the stories read. */
  readonly data: {
    readonly id: string;
    readonly conversation_id: string;
    readonly storage_url: string;
    readonly secret_key: string;
    readonly plan: { readonly id: string };
    readonly api_key: { readonly secret_key: string };
    readonly access_token: string;
  };
}

type Headers = Readonly<Record<string, string>>;

const ownKey: Headers = { "x-api-key": ownerKey };

export interface StoryService {
  /** @param credential the header with it; by default the owner's key. */
  post(path: string, json: unknown, credential?: Headers): Promise<Created>;
  put(path: string, json: unknown, credential?: Headers): Promise<Created>;
  /** The owner's credential as a person: for what no key may do. */
  signOwner(): Promise<Headers>;
  /** Reads a list. */
  read(path: string): Promise<{ readonly data: readonly { readonly id: string }[] }>;
  /** A customer writes. @returns the id of the conversation */
  write(from: string, text: string): Promise<string>;
  /** The texts of the service's messages that the phone shows, oldest first. */
  readPhone(number: string): Promise<(string | undefined)[]>;
}

/** @param readAddress returns the service's address. */
export function createStoryService(readAddress: () => string | Promise<string>): StoryService {
  const send =
    (method: string) =>
    async (path: string, json: unknown, credential: Headers = ownKey) => {
      const answer = await fetch((await readAddress()) + path, {
        method,
        headers: { "content-type": "application/json", ...credential },
        body: JSON.stringify(json),
      });
      if (!answer.ok) {
        throw new Error(await answer.text());
      }
      return (await answer.json()) as Created;
    };
  const post = send("POST");
  return {
    post,
    put: send("PUT"),
    async read(path) {
      const answer = await fetch((await readAddress()) + path, { headers: ownKey });
      return (await answer.json()) as { data: { id: string }[] };
    },
    async signOwner() {
      const { data } = await post("/v1/auth/login", { email: ownerEmail, password: ownerPassword });
      return { authorization: `Bearer ${data.access_token}` };
    },
    async write(from, text) {
      return (await post("/simulator/inbound", { from, text })).data.conversation_id;
    },
    async readPhone(number) {
      const path = `/simulator/phones/${encodeURIComponent(number)}/messages?limit=200`;
      const answer = await fetch((await readAddress()) + path, { headers: ownKey });
      const { data } = (await answer.json()) as { data: { direction: string; text?: { body: string } }[] };
      const sent = data.filter(({ direction }) => direction === "outbound");
      return sent.map(({ text }) => text?.body).reverse();
    },
  };
}
