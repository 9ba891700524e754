/** What is told of several settings at once, and values of the command line. */
import { expect, test } from "vitest";
import { ConfigError, readConfig, settings } from "../src/config/index.ts";

test("all invalid settings are named at once, also those that depend on others", () => {
  const env = { PORT: "x", HOST: "0.0.0.0", TIDINGS_ALLOW_LOCAL_SOURCES: "true", TIDINGS_LOGLEVEL: "debug" };
  expect(() => readConfig({ ...env, TIDINGS_S3_BUCKET: "files" })).toThrow(
    new ConfigError(
      [
        "Unknown setting TIDINGS_LOGLEVEL. Did you mean TIDINGS_LOG_LEVEL?",
        "PORT takes a whole number from 0 to 65535.",
        "TIDINGS_ALLOW_LOCAL_SOURCES takes true only while HOST is loopback: otherwise anyone could reach this machine's own services through it.",
        ...["TIDINGS_S3_ACCESS_KEY_ID", "TIDINGS_S3_SECRET_ACCESS_KEY"].map(
          (name) => `${name} takes a value when TIDINGS_S3_BUCKET is set.`,
        ),
      ].join("\n"),
    ),
  );
});

test("a value of the command line takes the place of the environment's", () => {
  expect(readConfig({ PORT: "x", HOST: "::1" }, { PORT: "4000" }).config).toMatchObject({
    port: 4000,
    host: "::1",
  });
});

test("a base address without a key, or a key without a base address, is rejected", () => {
  const base = { TIDINGS_BASE_URL: "https://tidings.example.com" };
  const key = { TIDINGS_API_KEY: "sk_live_upstream" };
  expect(() => readConfig(base)).toThrow("TIDINGS_API_KEY takes a value when TIDINGS_BASE_URL is set.");
  expect(() => readConfig(key)).toThrow("TIDINGS_BASE_URL takes a value when TIDINGS_API_KEY is set.");
  expect(() => readConfig({ ...key, TIDINGS_BASE_URL: "tidings.example.com" })).toThrow(
    "TIDINGS_BASE_URL takes the address of a Tidings service, http:// or https://.",
  );
});

test.each([
  [
    "webhook receivers",
    "TIDINGS_ALLOW_LOCAL_WEBHOOKS",
    { areLocalReceiversAllowed: true, areLocalSourcesAllowed: false },
  ],
  [
    "sources of files",
    "TIDINGS_ALLOW_LOCAL_SOURCES",
    { areLocalReceiversAllowed: false, areLocalSourcesAllowed: true },
  ],
])("local %s are allowed only while the service listens on loopback", (_, name, allowed) => {
  for (const HOST of ["127.0.0.1", "127.1.2.3", "localhost", "::1"]) {
    expect(readConfig({ HOST, [name]: "true" }).config.web).toEqual({ allow: [], ...allowed });
  }
  for (const HOST of ["0.0.0.0", "::", "10.0.0.7", "tidings.example.com"]) {
    expect(() => readConfig({ HOST, [name]: "true" })).toThrow(
      `${name} takes true only while HOST is loopback: otherwise anyone could reach this machine's own services through it.`,
    );
    expect(() => readConfig({ HOST, [name]: "false" })).not.toThrow();
  }
});

test("every setting has a description", () => {
  expect(settings.filter(({ description }) => description === "")).toEqual([]);
  expect(settings.find(({ name }) => name === "TIDINGS_DATA_DIR")?.default).toBe("~/.tidings");
  expect(settings.find(({ name }) => name === "TIDINGS_SECRET")?.default).toBe("");
});
