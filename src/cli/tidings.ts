/** The program: runs the command that its arguments name. */
import { startCompileCache } from "./compile-cache.ts";
import { describeExit, main } from "./main.ts";

startCompileCache();
const args = process.argv.slice(2);
await main(args).catch((error: unknown) => {
  const { message, code } = describeExit(error, args);
  console.error(message);
  process.exit(code);
});
