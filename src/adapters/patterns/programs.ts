/** A cache of compiled expressions, which drops the least recently used expressions. */
import { RE2JS } from "re2js";

/** The most instructions of all cached programs, about 100 bytes each. */
const maxKept = 100_000;

/** Keyed by expression, in the order of last use; undefined for an invalid expression. */
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

/** Invalid expressions also take memory. */
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
