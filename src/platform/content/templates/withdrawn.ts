/** The hook that runs before the approved version of a template is given up. */
import { type Change, defineHook } from "../../foundation/kernel/index.ts";

/**
 * A template that was submitted is about to be submitted again or deleted, and can't be sent from then on.
 * Not an event: a handler can reject the change.
 * @throws Failure `template_in_use` if something is waiting to be sent with the template.
 */
export const templateWithdrawn =
  defineHook<
    [
      change: Change,
      template: { readonly organization: string; readonly inbox_id: string; readonly template_id: string },
    ]
  >();
