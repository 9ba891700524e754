/** The clocks of a time zone: which instants show a time of day, and where a change leaves times out. */

const hourMs = 3_600_000;
/** Further than a change of the clocks can be from a first guess; no zone has two changes within it. */
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

/** The instants at which the clocks show a time: one; two where they are set back over it; none where it is left out. */
export function instantsOf(zone: string, shown: number): readonly number[] {
  const offsets = new Set(offsetsNear(zone, shown));
  return [...offsets]
    .map((offset) => shown - offset)
    .filter((instant) => shownAt(zone, instant) === shown)
    .sort((one, other) => one - other);
}

/** The first instant at which the clocks show this time, or the first one after the change that leaves it out. */
export function firstInstantOf(zone: string, shown: number): number {
  return instantsOf(zone, shown)[0] ?? changeNear(zone, shown);
}

/** Whether the clocks change within some hours of an instant. */
export function isNearChange(zone: string, time: number): boolean {
  return offsetMs(zone, time - 3 * hourMs) !== offsetMs(zone, time + 3 * hourMs);
}

/** The offsets before and after a change near a time; the same one twice without a change. */
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

/** Kept, because making one takes much longer than using it; there are some hundred zones. */
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
