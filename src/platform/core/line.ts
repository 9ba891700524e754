/**
 * A few at a time in this process: who would wait for the same rows waits here instead.
 *
 * A wait inside the database holds a connection; a burst of them would leave none for anybody else. The
 * rows are locked all the same, since other processes come too.
 */

/** One works on the rows, the next ones read meanwhile what they need before them. */
const atOnce = 3;

interface Line {
  running: number;
  readonly waiting: (() => void)[];
}

const lines = new Map<string, Line>();

/** Runs `work` as soon as fewer than three others with this key run, in the order of the calls. */
export async function inLine<Result>(key: string, work: () => Promise<Result>): Promise<Result> {
  const line = lines.get(key) ?? { running: 0, waiting: [] };
  lines.set(key, line);
  if (line.running >= atOnce) {
    // Whoever ends hands its place over, so that nobody comes between.
    await new Promise<void>((resolve) => line.waiting.push(resolve));
  } else {
    line.running += 1;
  }
  try {
    return await work();
  } finally {
    leave(key, line);
  }
}

function leave(key: string, line: Line): void {
  const next = line.waiting.shift();
  if (next) {
    next();
    return;
  }
  line.running -= 1;
  if (line.running === 0) {
    lines.delete(key);
  }
}
