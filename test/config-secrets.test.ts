/** The values of settings that never appear in a log. */
import { expect, test } from "vitest";
import { appSecrets, readConfig } from "../src/config/index.ts";

const secret = "a-secret-that-no-log-shows";

test("a bucket's secret access key is redacted", () => {
  const { config } = readConfig({
    TIDINGS_S3_BUCKET: "files",
    TIDINGS_S3_ACCESS_KEY_ID: "AKIA",
    TIDINGS_S3_SECRET_ACCESS_KEY: secret,
  });
  expect(config).toMatchObject({ fileBucket: "files", bucketAccess: { region: "us-east-1" } });
  expect(appSecrets(config)).toEqual([secret]);
});

test("a database password with invalid percent-encoding is still a secret", () => {
  const { config } = readConfig({ DATABASE_URL: "postgres://app:100%25sure@db/app" });
  expect(appSecrets(config)).toEqual(["100%25sure", "100%sure"]);
  const { config: odd } = readConfig({ DATABASE_URL: "postgres://app:100%sure@db/app" });
  expect(appSecrets(odd)).toContain("100%sure");
  const { config: traced } = readConfig({ OTEL_EXPORTER_OTLP_ENDPOINT: "https://app:s3cr3t-word@collector" });
  expect(appSecrets(traced)).toContain("s3cr3t-word");
});

test.each([
  ["several hosts", "postgres://app:s3cr3t%21@db1:5432,db2:5432/app", ["s3cr3t%21", "s3cr3t!"]],
  ["a socket", "postgres://app:s3cr3t-word@/app?host=/var/run/postgresql", ["s3cr3t-word"]],
  ["the password in the query", "postgres://db/app?user=app&password=s3cr3t%21", ["s3cr3t%21", "s3cr3t!"]],
])("the password of a database address with %s is a secret", (_, url, passwords) => {
  const { config } = readConfig({ DATABASE_URL: url });
  expect(new Set(appSecrets(config))).toEqual(new Set(passwords));
});
