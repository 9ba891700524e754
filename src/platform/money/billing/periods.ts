/**
 * Billing periods of whole months, in UTC. All periods are counted from the same anchor: with an anchor on
 * the 31st, a period begins on the last day of a shorter month and on the 31st again afterwards.
 */

/** The same time of day, `months` calendar months later; the last day of the month if it is too short. */
export function addMonths(anchor: Date, months: number): Date {
  const date = new Date(anchor);
  date.setUTCDate(1);
  date.setUTCMonth(anchor.getUTCMonth() + months);
  date.setUTCDate(Math.min(anchor.getUTCDate(), daysInMonth(date)));
  return date;
}

function daysInMonth(date: Date): number {
  return new Date(Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 0)).getUTCDate();
}
