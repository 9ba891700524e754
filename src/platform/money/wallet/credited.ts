/** The hook that a credit of a wallet runs. */
import { defineHook, type Transaction, type World } from "../../foundation/kernel/index.ts";

/**
 * An organization's wallet was credited. The caller locked the wallet before it wrote the entry. Not an event: what the
 * credit pays for at once must not be lost to another charge.
 */
export const walletCredited =
  defineHook<
    [tx: Transaction, world: World, credit: { readonly organization: string; readonly now: Date }]
  >();
