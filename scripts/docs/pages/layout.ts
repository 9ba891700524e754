/** The HTML around the content of a page. */
import type { PageGroup, PageSource } from "./navigation.ts";
import type { PagePassage, RenderedPage } from "./render.ts";

export interface ShownPage extends Pick<RenderedPage, "title" | "html" | "passages"> {
  readonly address: string;
}

interface LayoutOptions {
  readonly groups: readonly PageGroup[];
  titleOf(path: string): string;
  addressOf(path: string): string;
}

export function layOut(page: ShownPage, options: LayoutOptions): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escapeHtml(page.title)} · Tidings</title>
<link rel="stylesheet" href="/docs/docs.css">
<link rel="icon" href="data:,">
<script type="module" src="/docs/docs.js"></script>
</head>
<body>
<a class="skip" href="#content">Skip to the content</a>
<header>
<a class="home" href="/docs/">Tidings</a>
<search>
<label for="query">Search the documentation</label>
<input id="query" type="search" placeholder="Search: press /" autocomplete="off" spellcheck="false" aria-controls="results">
<div id="results" class="results" role="status"></div>
</search>
</header>
<div class="columns">
<details class="pages" open>
<summary>Pages</summary>
${describeNavigation(page.address, options)}
</details>
<main id="content" tabindex="-1">
${page.html}
</main>
${describeContents(page.passages)}
</div>
</body>
</html>
`;
}

function describeNavigation(current: string, { groups, titleOf, addressOf }: LayoutOptions): string {
  const link = ({ path, label }: PageSource) => {
    const address = addressOf(path);
    const mark = address === current ? ' aria-current="page"' : "";
    return `<li><a href="${address}"${mark}>${escapeHtml(label ?? titleOf(path))}</a></li>`;
  };
  const lists = groups.map(
    ({ title, pages }) => `<h2>${escapeHtml(title)}</h2>\n<ul>\n${pages.map(link).join("\n")}\n</ul>`,
  );
  return `<nav aria-label="Pages">\n${lists.join("\n")}\n</nav>`;
}

function describeContents(passages: readonly PagePassage[]): string {
  const links = passages
    .filter(({ anchor }) => anchor !== "")
    .map(({ anchor, heading }) => `<li><a href="#${anchor}">${escapeHtml(heading)}</a></li>`);
  return links.length < 2
    ? ""
    : `<nav class="contents" aria-label="On this page">\n<h2>On this page</h2>\n<ul>\n${links.join("\n")}\n</ul>\n</nav>`;
}

export function escapeHtml(text: string): string {
  const entities: Readonly<Record<string, string>> = {
    "&": "&amp;",
    "<": "&lt;",
    ">": "&gt;",
    '"': "&quot;",
  };
  return text.replace(/[&<>"]/g, (character) => entities[character] ?? character);
}
