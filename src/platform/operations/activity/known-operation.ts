/** Checks what the schema of the filters does not: that the operation exists. */
import { failInput } from "../../../../tools/contract/index.ts";
import { catalogue } from "../../../../tools/index.ts";
import { suggest } from "../../foundation/problems.ts";

const names = Object.keys(catalogue);

/** @throws Failure `invalid_request`, with the nearest name. */
export function requireKnownOperation({ operation }: { readonly operation?: string | undefined }): void {
  // The other names are of commands on the machine.
  const isCommand = operation === "release" || operation?.includes("-");
  if (operation === undefined || isCommand || names.includes(operation)) {
    return;
  }
  const message = `No operation has this name.${suggest(operation, names)}`;
  throw failInput([{ code: "custom", path: ["operation"], message, input: operation }], { operation });
}
