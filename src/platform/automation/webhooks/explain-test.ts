/** Explains why a test of a webhook failed, and what its owner can do. */
import type { WebResponse } from "../../../ports/web.ts";
import { classifyResponse } from "./deliver.ts";

interface TestProblem {
  readonly reason: string;
  readonly message: string;
  readonly fix: string;
}

/** Returns null if the receiver accepted the event. */
export function explainTest(answer: WebResponse): TestProblem | null {
  if (answer.outcome === "answered") {
    return classifyResponse(answer) === "delivered" ? null : explainStatus(answer.status);
  }
  const { reason, detail: message } = answer;
  return { reason, message, fix: fixes[reason] ?? "Check the receiver's log, and test again." };
}

function explainStatus(status: number): TestProblem {
  const known = statusFixes.find(({ from, to }) => from <= status && status <= to);
  return {
    reason: "status",
    message: `The receiver answered ${status}; only 200 to 299 counts as delivered.`,
    fix: known?.fix ?? "Let the receiver answer with a status from 200 to 299.",
  };
}

const statusFixes: readonly { readonly from: number; readonly to: number; readonly fix: string }[] = [
  {
    from: 300,
    to: 399,
    fix: "Redirects are not followed: set the webhook's url to the final address with update_webhook.",
  },
  {
    from: 401,
    to: 403,
    fix: "Let the receiver accept requests without credentials, and verify the signature instead. Check that it uses the current signing secret.",
  },
  {
    from: 404,
    to: 405,
    fix: "Check the path of the webhook's url, and that the receiver accepts POST there.",
  },
  {
    from: 410,
    to: 410,
    fix: "410 means that the receiver is gone, and such an answer to an event switches the webhook off. Correct the url with update_webhook.",
  },
  { from: 500, to: 599, fix: "The receiver failed: check its log." },
];

const local =
  "Use an https:// address of the public internet. For a program on your own machine use `tidings listen`, which needs no webhook, or set TIDINGS_ALLOW_LOCAL_WEBHOOKS=true where the service runs on that machine.";

const fixes: Readonly<Record<string, string>> = {
  unresolved: "Check the host name in the webhook's url, and that it has a DNS record.",
  timeout: "Answer at once with 200 and do the work afterwards. Check that no firewall drops the connection.",
  refused: "Check that the receiver runs and listens on the port of the url.",
  unreachable: "Check that the receiver's network is reachable from the internet.",
  tls: "Install a valid certificate of a public authority for this host name, with its intermediate certificates.",
  reset: "Check the receiver and the proxy before it: they closed the connection without a complete answer.",
  malformed: "Check that an HTTP/1.1 server listens at this address.",
  address: local,
  url: local,
  scheme: local,
  port: local,
  credentials: "Remove the user name and the password from the url: they are not sent.",
};
