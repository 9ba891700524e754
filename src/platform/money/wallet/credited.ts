/** The hook that runs when a wallet is credited. */
import { defineHook, type Transaction, type World } from "../../foundation/kernel/index.ts";

/**
 * An organization's wallet was credited. The caller locked the wallet before it wrote the entry. Not an
 * event: another charge must not spend the credit before the hook does.
 */
export const walletCredited =
  defineHook<
    [tx: Transaction, world: World, credit: { readonly organization: string; readonly now: Date }]
  >();
