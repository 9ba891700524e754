/** What the pages of the documentation do in the browser: examples for this service, copying, searching. */

/** The address that the guides use. */
const written = /(?:https?:\/\/)?(?:127\.0\.0\.1|localhost):3000(?![\w.-])/g;

/** A passage of a page: its address, the title of the page, the heading, the text. */
interface PassageEntry {
  readonly a: string;
  readonly p: string;
  readonly h: string;
  readonly t: string;
}

const maxResults = 12;
const excerptLength = 140;

for (const block of document.querySelectorAll("pre")) {
  writeOwnAddress(block);
  addCopyButton(block);
}
closeNavigationOnSmallScreens();
listenToSearch();

/** Shows examples with the address of the service that serves this page. */
function writeOwnAddress(block: HTMLElement): void {
  const texts = document.createTreeWalker(block, NodeFilter.SHOW_TEXT);
  for (let node = texts.nextNode(); node; node = texts.nextNode()) {
    node.nodeValue = node.nodeValue?.replace(written, location.origin) ?? null;
  }
}

function addCopyButton(block: HTMLElement): void {
  const frame = document.createElement("div");
  frame.className = "example";
  const button = document.createElement("button");
  button.type = "button";
  button.textContent = "Copy";
  const say = (text: string) => {
    button.textContent = text;
    setTimeout(() => {
      button.textContent = "Copy";
    }, 2_000);
  };
  button.addEventListener("click", () => {
    // A page that is not served over HTTPS has no clipboard.
    const copying = navigator.clipboard?.writeText(block.textContent ?? "") ?? Promise.reject();
    copying.then(
      () => say("Copied"),
      () => {
        getSelection()?.selectAllChildren(block);
        say("Selected");
      },
    );
  });
  block.replaceWith(frame);
  frame.append(block, button);
}

function closeNavigationOnSmallScreens(): void {
  const pages = document.querySelector<HTMLDetailsElement>("details.pages");
  if (pages && matchMedia("(max-width: 60rem)").matches) {
    pages.open = false;
  }
}

function listenToSearch(): void {
  const query = document.querySelector<HTMLInputElement>("#query");
  const results = document.querySelector<HTMLElement>("#results");
  if (!query || !results) {
    return;
  }
  let index: readonly PassageEntry[] | undefined;
  let isLoading = false;
  const update = () => {
    const words = readWords(query.value);
    results.replaceChildren(...(index && words.length > 0 ? show(find(index, words), words) : []));
  };
  query.addEventListener("input", () => {
    update();
    if (index || isLoading) {
      return;
    }
    isLoading = true;
    fetch("/docs/search.json")
      .then((answer) => answer.json())
      .then((entries) => {
        index = entries;
        update();
      })
      .catch(() => {
        // The next letter tries again.
        isLoading = false;
      });
  });
  query.addEventListener("keydown", ({ key }) => {
    if (key === "Escape") {
      query.value = "";
      results.replaceChildren();
    }
  });
  document.addEventListener("keydown", (event) => {
    if (event.key === "/" && !(event.target instanceof HTMLInputElement)) {
      event.preventDefault();
      query.focus();
    }
  });
}

function readWords(text: string): readonly string[] {
  return text
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word.length > 1)
    .map((word) => (word.length > 5 ? word.replace(endings, "") : word));
}

/** Without them approve also finds approval. A shorter word would then be part of too many others. */
const endings = /(?:ing|ed|al|es|e|s)$/;

/**
 * The passages that have every word, those with words in their heading first. The reference repeats the words
 * of the guides on many pages, so a guide counts more.
 */
function find(index: readonly PassageEntry[], words: readonly string[]): readonly PassageEntry[] {
  return index
    .map((passage) => ({ passage, score: rate(passage, words) }))
    .filter(({ score }) => score > 0)
    .sort((one, other) => other.score - one.score)
    .slice(0, maxResults)
    .map(({ passage }) => passage);
}

/** More than a word in a heading. */
const guideScore = 10;

function rate({ a, p, h, t }: PassageEntry, words: readonly string[]): number {
  const [page, heading, text] = [p.toLowerCase(), h.toLowerCase(), t.toLowerCase()];
  const scores = words.map(
    (word) =>
      (heading.includes(word) ? 9 : 0) + (page.includes(word) ? 4 : 0) + (text.includes(word) ? 1 : 0),
  );
  const isGuide = !a.startsWith("/docs/reference/");
  const sum = scores.reduce((total, score) => total + score, isGuide ? guideScore : 0);
  return scores.includes(0) ? 0 : sum;
}

function show(passages: readonly PassageEntry[], words: readonly string[]): readonly Node[] {
  if (passages.length === 0) {
    return [withText("p", "Nothing found. Try fewer or other words.")];
  }
  const list = document.createElement("ul");
  for (const { a, p, h, t } of passages) {
    const link = document.createElement("a");
    link.href = a;
    link.append(withText("strong", h === "" ? p : `${p}: ${h}`), withText("span", excerpt(t, words)));
    const item = document.createElement("li");
    item.append(link);
    list.append(item);
  }
  return [list];
}

/** The text around the first word. */
function excerpt(text: string, words: readonly string[]): string {
  const found = words.map((word) => text.toLowerCase().indexOf(word)).filter((at) => at >= 0);
  const start = Math.max(0, Math.min(...(found.length > 0 ? found : [0])) - excerptLength / 3);
  const end = start + excerptLength;
  return `${start > 0 ? "…" : ""}${text.slice(start, end)}${end < text.length ? "…" : ""}`;
}

function withText(name: string, text: string): HTMLElement {
  const element = document.createElement(name);
  element.textContent = text;
  return element;
}
