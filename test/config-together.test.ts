/** What is told of several settings at once, and values of the command line. */
import { expect, test } from "vitest";
import { ConfigError, readConfig } from "../src/config/index.ts";

test("all invalid settings are named at once, also those that depend on others", () => {
  const env = { PORT: "x", HOST: "0.0.0.0", TIDINGS_ALLOW_LOCAL_SOURCES: "true", TIDINGS_LOGLEVEL: "debug" };
  expect(() => readConfig({ ...env, TIDINGS_S3_BUCKET: "files" })).toThrow(
    new ConfigError(
      [
        "Unknown setting TIDINGS_LOGLEVEL. Did you mean TIDINGS_LOG_LEVEL?",
        "PORT takes a whole number from 0 to 65535.",
        "TIDINGS_ALLOW_LOCAL_SOURCES takes true only while HOST is loopback: otherwise anyone could reach this machine's own services through it.",
        ...["TIDINGS_S3_ACCESS_KEY_ID", "TIDINGS_S3_SECRET_ACCESS_KEY"].map(
          (name) =>
            `${name} takes a value when another one of TIDINGS_S3_BUCKET, TIDINGS_S3_ACCESS_KEY_ID, TIDINGS_S3_SECRET_ACCESS_KEY is set.`,
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
