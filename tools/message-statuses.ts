/** The statuses of a message, which its conversation shows too. */
export const messageStatuses = ["queued", "sent", "delivered", "read", "failed", "received"] as const;
