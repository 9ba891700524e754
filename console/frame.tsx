/** The bar at the top of every page: the organization, the connection, and the person with preferences. */
import { useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { useLocation } from "preact-iso/router";
import { waitingCount } from "./approvals/waiting.ts";
import { attempt } from "./controls/attempt.ts";
import { Icon } from "./controls/icon.tsx";
import { Menu } from "./controls/menu.tsx";
import { isConnected } from "./live/live.ts";
import { isPlaygroundOffered } from "./playground/available.ts";
import { preferences, setPreference } from "./preferences.ts";
import { session, signOut } from "./session/session.ts";
import { SessionsDialog } from "./session/sessions-dialog.tsx";
import { readableSections } from "./settings/sections.ts";
import { texts } from "./texts.ts";

export function Frame({ children }: { children: ComponentChildren }) {
  return (
    <div class="frame">
      <header class="top-bar">
        <span class="row">
          <strong class="organization">{session.value?.organization.name}</strong>
          <Pages />
        </span>
        <span class="row">
          {isConnected.value ? null : (
            <span class="chip" role="status">
              {texts.offline}
            </span>
          )}
          <PersonMenu />
        </span>
      </header>
      {children}
    </div>
  );
}

/** Links to the pages that the person may read. */
function Pages() {
  const { path } = useLocation();
  const count = waitingCount.value;
  const mayReadActs = session.value?.user.scopes.includes("tokens:read");
  const current = (page: string) => (path.startsWith(`/console/${page}`) ? "page" : undefined);
  const isInbox = path === "/console/" || current("inbox") === "page";
  const isOffered = isPlaygroundOffered();
  const bar = useRef<HTMLElement>(null);
  useEffect(() => {
    bar.current?.querySelector("[aria-current]")?.scrollIntoView({ block: "nearest", inline: "nearest" });
  }, [path, count, isOffered]);
  return (
    <nav ref={bar} class="pages" aria-label={texts.nav.label}>
      <a href="/console/" aria-current={isInbox ? "page" : undefined}>
        {texts.nav.inbox}
      </a>
      {count !== null && (
        <a href="/console/approvals" aria-current={current("approvals")}>
          {texts.nav.approvals}
          {count > 0 && (
            <span class="badge" aria-label={texts.approvals.badge(count)} role="img">
              {count}
            </span>
          )}
        </a>
      )}
      {mayReadActs && (
        <a href="/console/activity" aria-current={current("activity")}>
          {texts.nav.activity}
        </a>
      )}
      {isOffered && (
        <a href="/console/playground" aria-current={current("playground")}>
          {texts.playground.title}
        </a>
      )}
      {readableSections().length > 0 && (
        <a href="/console/settings" aria-current={current("settings")}>
          {texts.nav.settings}
        </a>
      )}
    </nav>
  );
}

function PersonMenu() {
  const showsSessions = useSignal(false);
  const { route } = useLocation();
  return (
    <>
      <Menu class="plain" label={texts.person.menu(session.value?.user.name ?? "")} button={<PersonName />}>
        <h3>{session.value?.user.email}</h3>
        <button
          type="button"
          aria-pressed={preferences.value.hasSound}
          onClick={() => setPreference("hasSound", !preferences.value.hasSound)}
        >
          {preferences.value.hasSound ? texts.person.soundOff : texts.person.soundOn}
        </button>
        <button type="button" onClick={() => (showsSessions.value = true)}>
          {texts.person.sessions}
        </button>
        <button type="button" onClick={() => route("/console/settings/account")}>
          {texts.account.open}
        </button>
        <button type="button" onClick={() => void attempt(signOut)}>
          {texts.person.signOut}
        </button>
      </Menu>
      {showsSessions.value && <SessionsDialog onClose={() => (showsSessions.value = false)} />}
    </>
  );
}

function PersonName() {
  return (
    <>
      <Icon name="user" />
      <span class="person-name">{session.value?.user.name}</span>
    </>
  );
}
