/**
 * A process that opens the embedded engine of a folder and sends "open", or the error, to the
 * test that starts it.
 */
import { startEmbedded } from "../../src/database/embedded/index.ts";

const [dataDir = ""] = process.argv.slice(2);
const opened = startEmbedded({ dataDir, ownership: undefined, onFailure() {} });
process.send?.(await opened.then(() => "open", String));
