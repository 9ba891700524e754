/** The choice of the client, and what is pasted into it. */
import { useSignal } from "@preact/signals";
import { CopyText } from "../../controls/copy-text.tsx";
import { session } from "../../session/session.ts";
import { texts } from "../../texts.ts";
import { SecretShown } from "../keys/secret-shown.tsx";
import { type ClientName, clients, type Transport, transportsOf, writeSnippet } from "./snippets.ts";

const { assistant: words } = texts.settings;

export function Snippets({ secret }: { readonly secret: string }) {
  const command = session.value?.assistant_command ?? null;
  const offered = clients.filter((one) => transportsOf(one, command).length > 0);
  const client = useSignal<ClientName>("claude_code");
  const chosen = useSignal<Transport>("stdio");
  const ways = transportsOf(client.value, command);
  const transport = ways.find((way) => way === chosen.value) ?? ways[0] ?? "http";
  const text = writeSnippet(client.value, transport, { service: location.origin, secret, command });
  return (
    <>
      <SecretShown secret={secret} />
      <div class="columns">
        <label>
          {words.client}
          <select
            value={client.value}
            onChange={({ currentTarget }) => {
              client.value = offered.find((one) => one === currentTarget.value) ?? client.value;
            }}
          >
            {offered.map((one) => (
              <option key={one} value={one}>
                {words.clients[one]}
              </option>
            ))}
          </select>
        </label>
        <label>
          {words.way}
          <select
            value={transport}
            onChange={({ currentTarget }) => {
              chosen.value = ways.find((way) => way === currentTarget.value) ?? chosen.value;
            }}
          >
            {ways.map((way) => (
              <option key={way} value={way}>
                {words.ways[way]}
              </option>
            ))}
          </select>
        </label>
      </div>
      <p>{words.places[client.value]}</p>
      <CopyText label={words.snippet} text={text ?? ""} />
      {transport === "http" && !isLoopbackPage() && (
        <p class="notice">{words.allowedHosts(location.hostname)}</p>
      )}
    </>
  );
}

function isLoopbackPage(): boolean {
  return ["localhost", "127.0.0.1", "[::1]"].includes(location.hostname);
}
