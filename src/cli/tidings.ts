/** The program: runs the command that its arguments name. */
import { startCompileCache } from "./compile-cache.ts";
import { describeExit, main } from "./main.ts";

startCompileCache();
await main(process.argv.slice(2)).catch((error: unknown) => {
  const { message, code } = describeExit(error);
  console.error(message);
  process.exit(code);
});
