/**
 * Hints: what a call does to the world, from which hosts decide whether to ask the user first. Each has its
 * reason, which `docs/reference/hints.md` shows.
 *
 * destructive: the call can't be undone, or it sends something out of the organization. An update
 * that another update takes back is not destructive. openWorld: the call reaches systems or people
 * outside this service.
 */
export const hintNames = ["readOnly", "destructive", "idempotent", "openWorld"] as const;

export interface Hint {
  readonly is: boolean;
  readonly because: string;
}

export type Hints = Readonly<Record<(typeof hintNames)[number], Hint>>;

export function yes(because: string): Hint {
  return { is: true, because };
}

export function no(because: string): Hint {
  return { is: false, because };
}

const staysHere = no("It reaches nothing outside this service.");

const read: Hints = {
  readOnly: yes("It only reads."),
  destructive: no("It changes nothing."),
  idempotent: yes("It changes nothing."),
  openWorld: staysHere,
};

const update: Hints = {
  readOnly: no("It changes what is stored."),
  destructive: no("Another call sets the former values again."),
  idempotent: yes("The same values a second time change nothing."),
  openWorld: staysHere,
};

/** What the method of a route says, where the operation says nothing else. */
export const hintsOfMethod = {
  GET: read,
  POST: {
    readOnly: no("It changes what is stored."),
    destructive: no("It adds something that can be changed or removed again."),
    idempotent: no("Each call adds something."),
    openWorld: staysHere,
  },
  PUT: update,
  PATCH: update,
  DELETE: {
    readOnly: no("It changes what is stored."),
    destructive: yes("What is deleted can't be restored."),
    idempotent: yes("A second call finds nothing to delete."),
    openWorld: staysHere,
  },
} as const satisfies Record<string, Hints>;
