/** Adds the name of the field whose id was not found to failures that lack it. */
import { Failure, type Operation } from "../../../../../tools/contract/index.ts";

/**
 * For `cohort_not_found`, the field is `cohort_id` of the input, or else its `id`. Returns other errors
 * unchanged.
 */
export function addNotFoundParam(error: unknown, operation: Operation | undefined, input: unknown): unknown {
  if (!(error instanceof Failure) || error.entry.type !== "not_found" || error.detail.param !== undefined) {
    return error;
  }
  const [, thing] = /^(\w+)_not_found$/.exec(error.code) ?? [];
  const sent = typeof input === "object" ? { ...input } : {};
  const param = [`${thing}_id`, "id"].find((name) => name in sent && name in (operation?.input.shape ?? {}));
  if (param === undefined) {
    return error;
  }
  const { code, entry, detail, cause, isReplay } = error;
  return new Failure(code, entry, { detail: { ...detail, param }, cause, isReplay });
}
