/** A cache of compiled expressions, which drops the least recently used. */
import { RE2JS } from "re2js";

/** Instructions of all programs that are kept, about 100 bytes each. */
const maxKept = 100_000;

/** By expression, the one that was used last at the end; undefined for an expression that is not valid. */
const programs = new Map<string, RE2JS | undefined>();
let kept = 0;

export function findProgram(pattern: string): RE2JS | undefined {
  const program = programs.has(pattern) ? programs.get(pattern) : compile(pattern);
  forget(pattern);
  programs.set(pattern, program);
  kept += sizeOf(program);
  for (const oldest of programs.keys()) {
    if (kept <= maxKept || oldest === pattern) {
      break;
    }
    forget(oldest);
  }
  return program;
}

function forget(pattern: string): void {
  if (programs.has(pattern)) {
    kept -= sizeOf(programs.get(pattern));
    programs.delete(pattern);
  }
}

/** An invalid one also takes memory. */
function sizeOf(program: RE2JS | undefined): number {
  return 10 + (program?.programSize() ?? 0);
}

function compile(pattern: string): RE2JS | undefined {
  try {
    return RE2JS.compile(pattern, RE2JS.CASE_INSENSITIVE);
  } catch {
    return undefined;
  }
}
