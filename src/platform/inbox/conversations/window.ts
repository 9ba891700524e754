/** The 24-hour service window, in which free text may be sent. */

/** How long after the contact's last message free text may be sent. */
export const windowMs = 24 * 3_600_000;

/**
 * The window's state: it opens with the contact's first message and expires 24 hours after the latest one.
 */
export function windowOf(conversation: { last_user_message_at: string | null }, now: Date) {
  const { last_user_message_at } = conversation;
  if (last_user_message_at === null) {
    return { is_within_24h_window: false, window_expires_at: null, is_expired: false };
  }
  const expiresAt = Date.parse(last_user_message_at) + windowMs;
  const isOpen = now.getTime() < expiresAt;
  return {
    is_within_24h_window: isOpen,
    window_expires_at: new Date(expiresAt).toISOString(),
    is_expired: !isOpen,
  };
}
