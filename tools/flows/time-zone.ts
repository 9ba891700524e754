/** The time and the time zone of a schedule. */
import { z } from "zod";
import { inputTimestamp, nearestName } from "../contract/index.ts";
import { correctCase, isTimeZone } from "../organization.ts";

const offset = /(?:Z|[+-]\d\d:\d\d)$/;

/**
 * A time with an offset, converted to UTC; or a time without an offset, which is a local time in the
 * schedule's zone.
 */
export const scheduleTime = z.iso
  .datetime({ offset: true, local: true, abort: true })
  .max(64)
  // The offset of a zone may move a time into the year 10000.
  .refine((text) => offset.test(text) || text < "9999", {
    error: "Send a time before the year 9999, or one with an offset.",
    abort: true,
  })
  .superRefine((text, context) => {
    // A local time may have no seconds.
    const { error } = inputTimestamp.safeParse(offset.test(text) ? text : new Date(`${text}Z`).toISOString());
    for (const { message } of error?.issues ?? []) {
      context.addIssue({ code: "custom", message, continue: false });
    }
  })
  .overwrite((text) => (offset.test(text) ? new Date(text).toISOString() : text))
  .describe("One time, ISO 8601");

/** For an unknown zone, the error suggests the nearest zone. */
export const scheduleTimeZone = z
  .string()
  .max(64)
  .refine(isTimeZone, {
    error({ input }) {
      const nearest =
        typeof input === "string" ? nearestName(input, Intl.supportedValuesOf("timeZone")) : undefined;
      const suggestion = nearest === undefined ? "" : ` Did you mean ${nearest}?`;
      return `Send an IANA time zone, for example Europe/Berlin.${suggestion}`;
    },
    abort: true,
  })
  .overwrite(correctCase)
  .describe("Default UTC");
