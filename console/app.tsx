/** The frame of the console: who is signed in, the pages, and what every page needs. */
import { useSignal } from "@preact/signals";
import type { ComponentType } from "preact";
import { useEffect } from "preact/hooks";
import lazy from "preact-iso/lazy";
import { LocationProvider, Route, Router } from "preact-iso/router";
import { watchWaiting } from "./approvals/waiting.ts";
import { NotLoaded } from "./controls/not-loaded.tsx";
import { pressOnce } from "./controls/press-once.ts";
import { showToast, Toasts } from "./controls/toast.tsx";
import { Frame } from "./frame.tsx";
import { startLive } from "./live/live.ts";
import { watchAvailability } from "./playground/available.ts";
import { describeError } from "./service/describe-error.ts";
import { openSession } from "./session/link.ts";
import { LinkOffer } from "./session/link-offer.tsx";
import { session } from "./session/session.ts";
import { SignIn } from "./session/sign-in.tsx";
import { texts } from "./texts.ts";

const Activity = page(async () => (await import("./activity/activity-page.tsx")).ActivityPage);
const Approvals = page(async () => (await import("./approvals/approvals-page.tsx")).ApprovalsPage);
const Inbox = page(async () => (await import("./inbox/inbox-page.tsx")).InboxPage);
const Playground = page(async () => (await import("./playground/playground-page.tsx")).PlaygroundPage);
const Settings = page(async () => (await import("./settings/settings-page.tsx")).SettingsPage);

function page(load: () => Promise<ComponentType>) {
  return lazy(() => load().catch(() => NotLoaded));
}

export function App() {
  const problem = useSignal("");
  const open = async () => {
    problem.value = "";
    try {
      await openSession();
    } catch (error) {
      if (session.value) {
        showToast(describeError(error));
      } else {
        problem.value = describeError(error);
      }
    }
  };
  useEffect(() => {
    void open();
    // A link that is opened in a tab of the console only changes the fragment of its address.
    addEventListener("hashchange", open);
    return () => removeEventListener("hashchange", open);
  }, []);

  const { value } = session;
  if (value === null) {
    return <SignIn />;
  }
  if (value !== undefined) {
    return <SignedIn key={value.user.id} name={`${value.organization.id}-${value.user.id}`} />;
  }
  return (
    <main class="empty">
      {problem.value === "" ? (
        <p>{texts.loading}</p>
      ) : (
        <>
          <p class="error">{problem.value}</p>
          <button type="button" onClick={open}>
            {texts.tryAgain}
          </button>
        </>
      )}
    </main>
  );
}

/** @param name names the organization and the person. */
function SignedIn({ name }: { name: string }) {
  useEffect(() => startLive(name), [name]);
  useEffect(watchWaiting, [name]);
  useEffect(watchAvailability, [name]);
  useEffect(pressOnce, []);
  return (
    <LocationProvider scope="/console/">
      <Frame>
        <Router>
          <Route path="/console/" component={Inbox} />
          <Route path="/console/inbox/:id?" component={Inbox} />
          <Route path="/console/approvals/:id?" component={Approvals} />
          <Route path="/console/activity" component={Activity} />
          <Route path="/console/playground" component={Playground} />
          <Route path="/console/settings/:section?/:id?" component={Settings} />
          <Route default component={NotFound} />
        </Router>
      </Frame>
      <LinkOffer />
      <Toasts />
    </LocationProvider>
  );
}

function NotFound() {
  return (
    <main class="empty">
      <h1>{texts.notFound.title}</h1>
      <a href="/console/">{texts.notFound.back}</a>
    </main>
  );
}
