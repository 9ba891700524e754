/** Keeps the actions that an answer offers to those whose tools its reader has. */

export function filterActions(answer: object, isCallable: (name: string) => boolean): object {
  const { data } = answer as { readonly data?: { readonly actions?: unknown } | null };
  if (!Array.isArray(data?.actions)) {
    // The service may be another's.
    return answer;
  }
  const actions = data.actions.filter((action: { tool?: unknown } | null) =>
    isCallable(String(action?.tool)),
  );
  return { ...answer, data: { ...data, actions } };
}
