/** Controls that create and change apps, accounts, numbers and tokens. */
import { randomBytes } from "node:crypto";
import { z } from "zod";
import { throughputOf } from "../graph/describe.ts";
import { addAccount, addApp, addPhone, addToken } from "../state/setup.ts";
import { type App, findNode, messagingLimits, nodesOf, permissions } from "../state/store.ts";
import { verifyCallback } from "../webhooks/handshake.ts";
import type { World } from "../world.ts";
import { ControlError, type ControlRequest, number, parse, requirePhone } from "./input.ts";

const name = z.string().min(1).max(128);
const perSecond = z.number().int().min(0).max(100_000);

const AppInput = z.strictObject({
  name: name.default("Emulated app"),
  app_secret: z.string().min(1).max(256).optional(),
  verify_token: z.string().min(1).max(256).optional(),
});

export function createApp({ world, body }: ControlRequest): object {
  const input = parse(AppInput, body);
  const app = addApp(world.store, {
    name: input.name,
    secret: input.app_secret ?? randomBytes(16).toString("hex"),
    verify_token: input.verify_token ?? randomBytes(12).toString("hex"),
  });
  return { app_id: app.id, app_secret: app.secret, verify_token: app.verify_token };
}

const AppUpdate = z.strictObject({
  verify_token: z.string().min(1).max(256).optional(),
  /** null: no webhooks. */
  callback_url: z.string().max(2_000).nullable().optional(),
  require_app_secret: z.boolean().optional(),
});

/** Another callback address is verified before it is used. */
export async function updateApp({ world, params, body }: ControlRequest): Promise<object> {
  const app = requireApp(world, params.id);
  const { verify_token = app.verify_token, callback_url, require_app_secret } = parse(AppUpdate, body);
  if (callback_url) {
    await verifyCallback(callback_url, verify_token);
  }
  app.verify_token = verify_token;
  if (callback_url !== undefined) {
    app.callback_url = callback_url;
    app.fields = null;
  }
  app.requires_proof = require_app_secret ?? app.requires_proof;
  const { callback_url: url, requires_proof } = app;
  return { app_id: app.id, verify_token, callback_url: url, require_app_secret: requires_proof };
}

const AccountInput = z.strictObject({
  name: name.default("Emulated account"),
  app_id: z.string().optional(),
});

export function createAccount({ world, body }: ControlRequest): object {
  const input = parse(AccountInput, body);
  const account = addAccount(world.store, {
    name: input.name,
    app_id: requireApp(world, input.app_id).id,
  });
  return { waba_id: account.id };
}

const PhoneInput = z.strictObject({
  waba_id: z.string().optional(),
  phone_number: number,
  verified_name: name.default("Emulated business"),
  messages_per_second: perSecond.default(80),
});

export function createPhone({ world, body }: ControlRequest): object {
  const { waba_id, phone_number, ...input } = parse(PhoneInput, body);
  const { store } = world;
  const account = waba_id === undefined ? nodesOf(store, "account")[0] : findNode(store, "account", waba_id);
  if (!account) {
    throw new ControlError(`There is no account with the id ${waba_id}.`, 404);
  }
  if (nodesOf(store, "phone").some((phone) => phone.number === phone_number)) {
    throw new ControlError(`phone_number: ${phone_number} exists already.`, 409);
  }
  const phone = addPhone(store, { ...input, number: phone_number, account_id: account.id });
  return { phone_number_id: phone.id, waba_id: account.id };
}

const PhoneUpdate = z.strictObject({
  messages_per_second: perSecond.optional(),
  messaging_limit: z.enum(messagingLimits).optional(),
  quality_rating: z.enum(["GREEN", "YELLOW", "RED", "UNKNOWN"]).optional(),
  status: z.enum(["CONNECTED", "DISCONNECTED", "FLAGGED", "RESTRICTED"]).optional(),
  pin: z
    .string()
    .regex(/^\d{6}$/)
    .nullable()
    .optional(),
});

/** A higher throughput and another messaging limit are reported, as Meta does; another quality is not. */
export function updatePhone({ world, params, body }: ControlRequest): object {
  const phone = requirePhone(world, params.id);
  const before = { ...phone };
  Object.assign(phone, parse(PhoneUpdate, body));
  const { id, account_id, messages_per_second, messaging_limit, quality_rating, status } = phone;
  if (messaging_limit !== before.messaging_limit) {
    for (const other of nodesOf(world.store, "phone").filter((one) => one.account_id === account_id)) {
      other.messaging_limit = messaging_limit;
    }
    const value = { max_daily_conversations_per_business: messaging_limit, max_phone_numbers_per_waba: 25 };
    world.webhooks.emit([{ account_id, field: "business_capability_update", value }]);
  }
  if (throughputOf(phone) === "HIGH" && throughputOf(before) !== "HIGH") {
    const limit = { max_daily_conversations_per_business: "TIER_UNLIMITED" };
    const value = { display_phone_number: phone.number, event: "THROUGHPUT_UPGRADE", ...limit };
    world.webhooks.emit([{ account_id, field: "phone_number_quality_update", value }]);
  }
  return { phone_number_id: id, messages_per_second, messaging_limit, quality_rating, status };
}

const TokenInput = z.strictObject({
  app_id: z.string().optional(),
  waba_ids: z.array(z.string()).max(100).optional(),
  access_token: z.string().min(1).max(1_000).optional(),
  permissions: z.array(z.enum(permissions)).max(2).optional(),
  expires_in_ms: z.number().int().min(0).optional(),
});

/** Valid for these accounts, by default for all. */
export function createToken({ world, body }: ControlRequest): object {
  const { store, clock } = world;
  const { app_id, waba_ids, access_token, permissions: given, expires_in_ms } = parse(TokenInput, body);
  const token = addToken(store, {
    value: access_token,
    app_id: requireApp(world, app_id).id,
    permissions: given,
    account_ids: waba_ids ?? nodesOf(store, "account").map(({ id }) => id),
    expires_at: expires_in_ms === undefined ? null : clock.now() + expires_in_ms,
  });
  const { value, account_ids } = token;
  return {
    access_token: value,
    app_id: token.app_id,
    waba_ids: [...account_ids],
    permissions: token.permissions,
  };
}

const Expiry = z.strictObject({ access_token: z.string() });

export function expireToken({ world, body }: ControlRequest): object {
  const { access_token } = parse(Expiry, body);
  const token = world.store.tokens.get(access_token);
  if (!token) {
    throw new ControlError("There is no such access token.", 404);
  }
  token.expires_at = world.clock.now();
  return { access_token, expires_at: new Date(token.expires_at).toISOString() };
}

function requireApp({ store }: World, id: string | undefined): App {
  const app = id === undefined ? nodesOf(store, "app")[0] : findNode(store, "app", id);
  if (!app) {
    throw new ControlError(`There is no app with the id ${id}.`, 404);
  }
  return app;
}
