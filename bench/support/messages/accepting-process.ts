/** A process of the service without workers, from the sources of the checkout in BENCH_CHECKOUT. */
import { once } from "node:events";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type * as App from "../../../src/app.ts";
import type * as Config from "../../../src/config/index.ts";

const load = (file: string) =>
  import(pathToFileURL(join(process.env.BENCH_CHECKOUT ?? "", "src", file)).href);

const { startApp }: typeof App = await load("app.ts");
const { readConfig }: typeof Config = await load("config/index.ts");
const app = await startApp({
  config: readConfig().config,
  log: { debug() {}, info() {}, warn() {}, error: console.error },
  runsJobs: false,
});
await once(process, "SIGTERM");
await app[Symbol.asyncDispose]();
process.exit(0);
