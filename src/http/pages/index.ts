/** The pages for people: the documentation under /docs/ and, if it was built, the console under /console/. */
import type { FastifyInstance } from "fastify";
import { addConsole, isConsoleBuilt } from "./console.ts";
import { addDocumentation } from "./documentation.ts";
import { sendErrorPage } from "./error-page.ts";
import { guardOwnPages, type OwnAddresses, requireOwnHost } from "./own-pages.ts";

export interface PagesOptions extends OwnAddresses {
  /** The folder with the pages of the documentation. */
  readonly documentation: URL;
  /** The folder with the files of the console, which need not exist. */
  readonly console: URL;
}

/** Call it before other hooks that answer requests are added. */
export function addPages(app: FastifyInstance, options: PagesOptions): void {
  guardOwnPages(app, options);
  const root = { config: { isRateLimited: false }, exposeHeadRoute: true, errorHandler: sendErrorPage };
  app.get("/", root, async (request, reply) => {
    if (!(await isConsoleBuilt(options.console))) {
      return reply.redirect("/docs/");
    }
    requireOwnHost(request.headers, options);
    return reply.redirect("/console/");
  });
  addDocumentation(app, options.documentation);
  addConsole(app, options.console);
}
