/**
 * WhatsApp with two processes on PostgreSQL and the emulator: kills -9, the rate of a number, webhooks.
 *
 * Each option runs one part; without an option, all parts run. `--kills 20`: 2,000 sends to different
 * persons, half of them texts within the window and half of them an approved template, while the emulator
 * loses 5 % of its answers and the processes are killed in turn. `--throttle`: 800 sends at the rate of a new
 * number. `--ingress`: signed bodies of 1 to 10 messages, 500 messages a second for 20 s. `--hang`: Graph
 * answers nothing for a minute.
 */
import { parseArgs } from "node:util";
import { measureHang } from "./support/whatsapp/hang.ts";
import { measureIngress } from "./support/whatsapp/ingress.ts";
import { measureKills } from "./support/whatsapp/kills.ts";
import { measureThrottle } from "./support/whatsapp/throttle.ts";

const { values: options } = parseArgs({
  options: {
    kills: { type: "string" },
    hang: { type: "boolean", default: false },
    throttle: { type: "boolean", default: false },
    ingress: { type: "boolean", default: false },
  },
});
const isAll = options.kills === undefined && !options.throttle && !options.ingress && !options.hang;

if (isAll || options.kills !== undefined) {
  await measureKills(Number(options.kills ?? 20));
}
if (isAll || options.throttle) {
  await measureThrottle();
}
if (isAll || options.ingress) {
  await measureIngress();
}
if (isAll || options.hang) {
  await measureHang();
}
