/** The verify tokens that were chosen on this page: the service never shows one. A reload forgets them. */
const tokens = new Map<string, string>();

export function rememberToken(inbox: string, token: string): void {
  tokens.set(inbox, token);
}

export function recallToken(inbox: string): string | undefined {
  return tokens.get(inbox);
}
