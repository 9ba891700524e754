/**
 * Remembers what a key may do at a service, so that the next start lists its tools without a request.
 *
 * Only the list depends on it: the service checks the scopes at each call. The file has no key, only the hash
 * of the key and the address in its name.
 */
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { parseJson, readScope } from "../../../tools/contract/index.ts";
import type { KeyAccess } from "../../mcp/tool-list/index.ts";
import { cacheFolder } from "../compile-cache.ts";

export interface RememberedAccess {
  read(): KeyAccess | undefined;
  /** Best effort: a folder that can't be written costs the next start a request. */
  write(access: KeyAccess): void;
}

export function rememberAccess({ baseUrl, key }: { baseUrl: string; key: string }): RememberedAccess {
  const hash = createHash("sha256").update(`${baseUrl}\n${key}`).digest("hex");
  const file = () => join(cacheFolder(), "access", `${hash}.json`);
  return {
    read() {
      try {
        return toAccess(parseJson(readFileSync(file(), "utf8")));
      } catch {
        return undefined;
      }
    },
    write({ scopes, availableTools }) {
      try {
        const text = JSON.stringify({ scopes: [...scopes], tools: availableTools && [...availableTools] });
        // Renamed at the end, because other processes read the file.
        const written = `${file()}.${process.pid}`;
        mkdirSync(dirname(written), { recursive: true, mode: 0o700 });
        writeFileSync(written, text, { mode: 0o600 });
        renameSync(written, file());
      } catch {
        // The next start asks the service.
      }
    },
  };
}

/** Undefined if the file has another form, which a later version may have written. */
function toAccess(stored: unknown): KeyAccess | undefined {
  const { scopes, tools } = stored as { readonly scopes?: unknown; readonly tools?: unknown };
  if (!isTexts(scopes) || !(tools === undefined || isTexts(tools))) {
    return undefined;
  }
  return {
    scopes: new Set(scopes.flatMap((scope) => readScope(scope) ?? [])),
    availableTools: tools && new Set(tools),
  };
}

function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((one) => typeof one === "string");
}
