/** Names a browser, so that people recognize their sessions. */

/** The first that fits is right: most browsers also name those that they descend from. */
const browsers: readonly (readonly [pattern: RegExp, name: string])[] = [
  [/\bEdg(?:A|iOS)?\//, "Edge"],
  [/\bOPR\//, "Opera"],
  [/\bSamsungBrowser\//, "Samsung Internet"],
  [/\b(?:Firefox|FxiOS)\//, "Firefox"],
  [/\b(?:Headless)?Chrom(?:e|ium)\/|\bCriOS\//, "Chrome"],
  [/\bVersion\/\S+ (?:Mobile\/\S+ )?Safari\//, "Safari"],
];

const systems: readonly (readonly [pattern: RegExp, name: string])[] = [
  [/\biPhone\b/, "iPhone"],
  [/\biPad\b/, "iPad"],
  [/\bAndroid\b/, "Android"],
  [/\bCrOS\b/, "ChromeOS"],
  [/\bWindows\b/, "Windows"],
  [/\bMac OS X\b/, "macOS"],
  [/\bLinux\b/, "Linux"],
];

/** Like `Firefox on Linux`, from the User-Agent header; null if neither is known. */
export function describeBrowser(userAgent = ""): string | null {
  const [browser, system] = [browsers, systems].map(
    (known) => known.find(([pattern]) => pattern.test(userAgent))?.[1],
  );
  return browser && system ? `${browser} on ${system}` : (browser ?? system ?? null);
}
