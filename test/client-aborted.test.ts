/** A call that was aborted before it began. */
import { expect, test, vi } from "vitest";
import { createClient } from "../src/client/index.ts";
import { contacts } from "../tools/contacts.ts";

test("its look-up of the address may fail without ending the process", async () => {
  const onUnhandled = vi.fn();
  process.on("unhandledRejection", onUnhandled);
  const client = createClient({ baseUrl: () => Promise.reject(new Error("no service answers")) });
  const aborted = AbortSignal.abort(new Error("enough"));
  await expect(client.call(contacts.list_contacts, {}, { signal: aborted })).rejects.toThrow("enough");
  // Node reports it after the microtasks of this turn.
  await new Promise(setImmediate);
  process.off("unhandledRejection", onUnhandled);
  expect(onUnhandled).not.toHaveBeenCalled();
  await client.close();
});
