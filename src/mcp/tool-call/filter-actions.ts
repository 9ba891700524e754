/** Removes from a response the tool calls that its reader can't make. */

/** Filters the entries of `data[offers]` by the tool that each names. */
export function filterActions(
  response: object,
  offers: string,
  isCallable: (name: string) => boolean,
): object {
  const { data } = response as { readonly data?: Readonly<Record<string, unknown>> | null };
  const actions = data?.[offers];
  if (!Array.isArray(actions)) {
    // Another implementation of the service may leave the list out.
    return response;
  }
  const callable = actions.filter((action: { tool?: unknown } | null) => isCallable(String(action?.tool)));
  return { ...response, data: { ...data, [offers]: callable } };
}
