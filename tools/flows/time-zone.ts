/** The time zone of a schedule; an unknown one is rejected with the nearest. */
import { z } from "zod";
import { nearestName } from "../contract/index.ts";
import { correctCase, isTimeZone } from "../organization.ts";

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
