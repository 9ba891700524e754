/** The console in a browser while the service is killed and started again at the same port and data. */
import { expect, test } from "vitest";
import { ownerEmail, ownerPassword } from "./support/app.ts";
import { describePages } from "./support/browser.ts";
import { logOf, readLog, reply, useConsolePages } from "./support/console-pages.ts";
import { createStoryService } from "./support/console-service.ts";
import { ownPort } from "./support/own-port.ts";
import { openProcesses, waitUntil } from "./support/served-process.ts";

describePages(() => {
  const address = `http://127.0.0.1:${ownPort}`;
  const { openSignedIn } = useConsolePages(() => address);
  const { put, write, readPhone } = createStoryService(() => address);

  test("a service that is killed while messages are sent loses none and doubles none", async () => {
    await using processes = await openProcesses();
    const start = () =>
      processes.serve({
        PORT: String(ownPort),
        TIDINGS_OWNER_EMAIL: ownerEmail,
        TIDINGS_OWNER_PASSWORD: ownerPassword,
      });
    const { process: first } = await start();
    const number = "+14155559201";
    const id = await write(number, "Are you there?");
    const page = await openSignedIn(`inbox/${id}`);
    await logOf(page).getByText("Are you there?").waitFor();

    // The first message is with the channel, and the request of the second one runs, when the service ends.
    await put("/simulator/faults", { accept_delay_ms: 1_500 });
    await reply(page, "One moment.");
    await logOf(page).locator("[data-message]").getByText("One moment.").waitFor();
    const request = page.waitForRequest(`${address}/v1/messages`);
    request.catch(() => undefined);
    await reply(page, "I am looking.");
    await request;
    await first.end("SIGKILL");
    await page.getByText("Connecting …").waitFor();
    await reply(page, "Yes, we are.");
    await logOf(page).getByText("No connection. It is sent when the connection is back.").last().waitFor();

    await start();
    await put("/simulator/faults", {});
    await page.getByText("Connecting …").waitFor({ state: "detached" });
    const replies = ["One moment.", "I am looking.", "Yes, we are."];
    await waitUntil(async () => (await readPhone(number)).length >= replies.length, 90_000);
    await logOf(page).locator(".pending").first().waitFor({ state: "detached" });
    await write(number, "Thank you.");
    await logOf(page).locator("[data-message]").getByText("Thank you.").waitFor();
    expect(await readPhone(number)).toEqual(replies);
    expect(await readLog(page)).toEqual(["Are you there?", ...replies, "Thank you."]);
    await page.context().close();
  });
});
