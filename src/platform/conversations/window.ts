/** The 24-hour service window: when free text may be sent. */

/** How long free text may follow the contact's last message. */
export const windowMs = 24 * 3_600_000;

/** Whether free text may be sent now, until when, and whether a window there was has lapsed. */
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
