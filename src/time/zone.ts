/** Converts between instants and the clocks of a time zone, including repeated and skipped times. */

const hourMs = 3_600_000;
/**
 * A change of the clocks is never further than this from a first guess, and no zone has two changes within
 * this time.
 */
const nearMs = 25 * hourMs;

const formats = new Map<string, Intl.DateTimeFormat>();

/** How far the clocks of a zone are ahead of UTC. */
export function offsetMs(zone: string, time: number): number {
  const parts = Object.fromEntries(
    formatOf(zone)
      .formatToParts(time)
      .map(({ type, value }) => [type, value]),
  );
  const { year, month, day, hour, minute, second } = parts;
  const shown = Date.parse(`${year?.padStart(4, "0")}-${month}-${day}T${hour}:${minute}:${second}Z`);
  return shown - Math.floor(time / 1_000) * 1_000;
}

/** What the clocks show at an instant, as if it were UTC. */
export function shownAt(zone: string, time: number): number {
  return time + offsetMs(zone, time);
}

/**
 * The instants at which the clocks show a time: one; two if the clocks are set back over the time; none if it
 * is skipped.
 */
export function instantsOf(zone: string, shown: number): readonly number[] {
  const offsets = new Set(offsetsNear(zone, shown));
  return [...offsets]
    .map((offset) => shown - offset)
    .filter((instant) => shownAt(zone, instant) === shown)
    .sort((one, other) => one - other);
}

/** The first instant at which the clocks show this time. For a skipped time, the instant of the change. */
export function firstInstantOf(zone: string, shown: number): number {
  return instantsOf(zone, shown)[0] ?? changeNear(zone, shown);
}

/** Whether the clocks change within some hours of an instant. */
export function isNearChange(zone: string, time: number): boolean {
  return offsetMs(zone, time - 3 * hourMs) !== offsetMs(zone, time + 3 * hourMs);
}

/** The offsets before and after a change near a time; without a change both are equal. */
function offsetsNear(zone: string, shown: number): readonly [number, number] {
  const guess = shown - offsetMs(zone, shown);
  return [offsetMs(zone, guess - nearMs), offsetMs(zone, guess + nearMs)];
}

/** The instant of the change near a time, to the second. */
function changeNear(zone: string, shown: number): number {
  const guess = Math.floor((shown - offsetMs(zone, shown)) / 1_000);
  const before = offsetMs(zone, guess * 1_000 - nearMs);
  let [low, high] = [guess - nearMs / 1_000, guess + nearMs / 1_000];
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if (offsetMs(zone, middle * 1_000) === before) {
      low = middle;
    } else {
      high = middle;
    }
  }
  return high * 1_000;
}

/** Cached, because creating a format takes much longer than using it. There are some hundred zones. */
function formatOf(zone: string): Intl.DateTimeFormat {
  const known = formats.get(zone);
  if (known) {
    return known;
  }
  const format = new Intl.DateTimeFormat("en-US", {
    timeZone: zone,
    hourCycle: "h23",
    year: "numeric",
    month: "2-digit",
    day: "2-digit",
    hour: "2-digit",
    minute: "2-digit",
    second: "2-digit",
  });
  formats.set(zone, format);
  return format;
}
