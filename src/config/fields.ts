/** Parsers for the text of settings. */
import ipaddr from "ipaddr.js";
import { z } from "zod";

/** The error of a field: completes "NAME takes …" and never repeats the value, which may be secret. */
export const expected = (what: string) => ({ error: what });

/** Names separated by commas; the caller checks whether they exist. */
export function nameList(description: string) {
  const read = (text: string) => (/^[\w-]{1,64}$/.test(text) ? text : undefined);
  return commaList(read, "names separated by commas").describe(description);
}

/** A whole number from `from` to `to`. */
export function wholeNumber(from: number, to: number) {
  const what = expected(`a whole number from ${from} to ${to}`);
  return z.string().regex(/^\d+$/, what).transform(Number).pipe(z.number().min(from, what).max(to, what));
}

/** Items separated by commas. `read` parses each item and returns undefined for an invalid one. */
export function commaList<Value extends string>(read: (text: string) => Value | undefined, what: string) {
  return z
    .string()
    .transform((text, context): readonly Value[] => {
      const items = text.split(",").flatMap((item) => item.trim() || []);
      const values = items.flatMap((item) => read(item) ?? []);
      if (values.length < items.length) {
        context.addIssue({ code: "custom", message: what });
      }
      return values;
    })
    .default([]);
}

/** The base URL of an external service. Credentials have settings of their own, which are never logged. */
export const serviceUrl = z
  .string()
  .refine(isServiceUrl, expected("an address, http:// or https://, without a user name and without a query"))
  .transform((text) => text.replace(/\/+$/, ""));

function isServiceUrl(text: string): boolean {
  return /^https?:\/\/[^\s@?#]+$/i.test(text) && URL.canParse(text);
}

/** A key that a header can carry. */
export const serviceKey = z.string().regex(/^[!-~]+$/, expected("a key without spaces"));

/** A country by its two-letter code. */
export const countryCode = z
  .string()
  .transform((text) => text.toUpperCase())
  .refine(isCountry, expected("a two-letter country code (ISO 3166), for example DE"));

/** Intl knows further codes: old codes and UK, which it replaces, and ZZ for no country. */
function isCountry(code: string): boolean {
  const regions = new Intl.DisplayNames("en", { type: "region", fallback: "none" });
  return /^[A-Z]{2}$/.test(code) && code !== "ZZ" && regions.of(code) !== undefined && isCurrent(code);
}

function isCurrent(code: string): boolean {
  return new Intl.Locale(`und-${code}`).region === code;
}

export function readHost(text: string): string | undefined {
  return /^(?:[a-z\d](?:[a-z\d.-]*[a-z\d])?|\[[a-f\d:.]+\])$/i.test(text) ? text.toLowerCase() : undefined;
}

/** An origin as a browser writes it: lower case, without the scheme's own port. Wildcards match nothing. */
export function readOrigin(text: string): string | undefined {
  const isOrigin = /^https?:\/\/[^\s/?#@*]+$/i.test(text) && URL.canParse(text);
  return isOrigin ? new URL(text).origin : undefined;
}

export function readNetwork(text: string): string | undefined {
  const [address = "", bits] = text.split("/");
  const isAddress = ipaddr.IPv4.isValidFourPartDecimal(address) || ipaddr.IPv6.isValid(address);
  return isAddress && (bits === undefined || ipaddr.isValidCIDR(text)) ? text : undefined;
}

export function isTrue(text: string): boolean {
  return text === "true" || text === "1";
}

export function isLoopback(host: string): boolean {
  return host === "localhost" || (ipaddr.isValid(host) && ipaddr.process(host).range() === "loopback");
}
