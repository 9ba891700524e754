/** Every text of the console is here and in texts/, so that another language is other files. */
import { account } from "./texts/account.ts";
import { activity } from "./texts/activity.ts";
import { approvals } from "./texts/approvals.ts";
import { channels } from "./texts/channels.ts";
import { errors } from "./texts/errors.ts";
import { inbox } from "./texts/inbox.ts";
import { playground } from "./texts/playground.ts";
import { settings } from "./texts/settings.ts";
import { people, routing, teams } from "./texts/teams.ts";

interface Person {
  readonly name: string;
  readonly email: string;
}

export const texts = {
  title: (unread: number) => (unread > 0 ? `(${unread}) Inbox · Tidings` : "Inbox · Tidings"),
  pageTitle: (page: string) => `${page} · Tidings`,
  loading: "Loading …",
  tryAgain: "Try again",
  close: "Close",
  cancel: "Cancel",
  undo: "Undo",
  more: "More",
  offline: "Connecting …",
  unknownContact: "Unknown contact",
  formerPerson: "Former colleague",
  mentioned: (name: string) => `${name} mentioned you in a note.`,

  account,
  errors,
  activity,
  approvals,
  channels,
  people,
  teams,
  routing,
  playground,
  settings,
  nav: {
    label: "Pages",
    inbox: "Inbox",
    approvals: "Approvals",
    activity: "Activity",
    settings: "Settings",
  },

  form: {
    save: "Save",
    busy: "Please wait …",
    saved: "Saved.",
    correct: "Correct the marked fields.",
    unreadable: "Complete this, or leave it empty.",
    other: (field: string, message: string) => `${field}: ${message}`,
  },

  copy: {
    button: "Copy",
    named: (label: string) => `Copy: ${label}`,
    states: {
      ready: "",
      copied: "Copied.",
      selected: "Press Ctrl+C or ⌘C to copy what is selected.",
    },
  },

  signIn: {
    title: "Sign in to Tidings",
    email: "E-mail address",
    password: "Password",
    submit: "Sign in",
  },

  notLoaded: {
    text: "This page could not be loaded. There may be a newer version of it, or no connection.",
    reload: "Reload",
  },

  notFound: {
    title: "There is no such page.",
    back: "Open the inbox",
  },

  link: {
    title: (name: string) => `Sign in as ${name}?`,
    present: ({ name, email }: Person) => `You are signed in as ${name} (${email}).`,
    next: ({ name, email }: Person) =>
      `The link signs in ${name} (${email}). Your session in this browser then ends, in all tabs.`,
    accept: (name: string) => `Sign in as ${name}`,
    decline: (name: string) => `Stay signed in as ${name}`,
  },

  sessions: {
    title: "Sessions",
    current: "This browser",
    unknownBrowser: "Unknown browser",
    begun: {
      password: (time: string) => `Signed in with the password on ${time}`,
      link: (time: string) => `Signed in by a link on ${time}`,
    },
    used: (time: string) => `Last used on ${time}`,
    end: "End",
    endOne: (browser: string, begun: string) => `End the session of ${browser} that began on ${begun}`,
    endOthers: "End all other sessions",
    ended: "Ended: that browser has to sign in again.",
  },

  person: {
    menu: (name: string) => `${name}: you and your preferences`,
    soundOn: "Play a sound for new messages",
    soundOff: "Play no sound for new messages",
    sessions: "Sessions",
    signOut: "Sign out",
  },

  ...inbox,
} as const;
