/** Creates apps, accounts, numbers and tokens, and the set that exists at the start. */
import { newAccessToken } from "./ids.ts";
import {
  type Account,
  type App,
  newNodeId,
  type Permission,
  type Phone,
  permissions,
  type Store,
  type Token,
} from "./store.ts";

/** The same at each start, so that a program under development keeps its settings. */
export interface Defaults {
  readonly app_id: string;
  readonly app_secret: string;
  readonly verify_token: string;
  readonly waba_id: string;
  readonly phone_number_id: string;
  readonly phone_number: string;
  readonly access_token: string;
  readonly messages_per_second: number;
}

export const defaults: Defaults = {
  app_id: "100000000000001",
  app_secret: "0123456789abcdef0123456789abcdef",
  verify_token: "emulator-verify-token",
  waba_id: "100000000000002",
  phone_number_id: "100000000000003",
  phone_number: "15550783881",
  access_token: "EAAemulator",
  messages_per_second: 80,
};

/** Removes everything and creates the set of the start. */
export function resetStore({ store }: { readonly store: Store }, settings: Defaults): void {
  for (const part of Object.values(store)) {
    part.clear();
  }
  const app = addApp(store, {
    id: settings.app_id,
    secret: settings.app_secret,
    verify_token: settings.verify_token,
    name: "Emulated app",
  });
  const account = addAccount(store, { id: settings.waba_id, name: "Emulated account", app_id: app.id });
  addPhone(store, {
    id: settings.phone_number_id,
    account_id: account.id,
    number: settings.phone_number,
    verified_name: "Emulated business",
    messages_per_second: settings.messages_per_second,
  });
  addToken(store, { value: settings.access_token, app_id: app.id, account_ids: [account.id] });
}

interface NewApp {
  readonly id?: string | undefined;
  readonly name: string;
  readonly secret: string;
  readonly verify_token: string;
}

export function addApp(store: Store, { id = newNodeId(store), ...input }: NewApp): App {
  const app: App = {
    kind: "app",
    id,
    ...input,
    callback_url: null,
    fields: null,
    requires_proof: false,
  };
  store.nodes.set(id, app);
  return app;
}

interface NewAccount {
  readonly id?: string | undefined;
  readonly name: string;
  /** Is subscribed, and its tokens are valid for the account. */
  readonly app_id: string;
}

export function addAccount(store: Store, { id = newNodeId(store), name, app_id }: NewAccount): Account {
  const subscriptions = new Map([[app_id, { override_callback_uri: null }]]);
  const account: Account = { kind: "account", id, name, subscriptions };
  store.nodes.set(id, account);
  for (const token of store.tokens.values()) {
    if (token.app_id === app_id) {
      token.account_ids.add(id);
    }
  }
  return account;
}

interface NewPhone {
  readonly id?: string | undefined;
  readonly account_id: string;
  readonly number: string;
  readonly verified_name: string;
  readonly messages_per_second: number;
}

export function addPhone(store: Store, { id = newNodeId(store), ...input }: NewPhone): Phone {
  const phone: Phone = {
    kind: "phone",
    id,
    ...input,
    quality_rating: "GREEN",
    status: "CONNECTED",
    messaging_limit: "TIER_UNLIMITED",
    pin: null,
  };
  store.nodes.set(id, phone);
  return phone;
}

interface NewToken {
  readonly value?: string | undefined;
  readonly app_id: string;
  readonly account_ids: readonly string[];
  /** By default all. */
  readonly permissions?: readonly Permission[] | undefined;
  readonly expires_at?: number | null | undefined;
}

export function addToken(store: Store, input: NewToken): Token {
  const { value = newAccessToken(), app_id, account_ids, expires_at = null } = input;
  const token: Token = {
    kind: "user",
    value,
    app_id,
    account_ids: new Set(account_ids),
    permissions: input.permissions ?? permissions,
    expires_at,
  };
  store.tokens.set(value, token);
  return token;
}
