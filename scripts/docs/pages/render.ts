/** Turns a Markdown page into HTML, and into the passages that the search finds. */
import { posix } from "node:path";
import GithubSlugger from "github-slugger";
import type { Element, ElementContent, Nodes as HtmlNodes, Root as HtmlRoot } from "hast";
import { toHtml } from "hast-util-to-html";
import type { Link, Nodes, Root } from "mdast";
import { fromMarkdown } from "mdast-util-from-markdown";
import { gfmTableFromMarkdown } from "mdast-util-gfm-table";
import { toHast } from "mdast-util-to-hast";
import { gfmTable } from "micromark-extension-gfm-table";

/** A heading of the second level, or the start of the page, with the text below it. */
export interface PagePassage {
  readonly heading: string;
  /** The anchor of the heading; empty for the start of the page. */
  readonly anchor: string;
  readonly text: string;
}

export interface RenderedPage {
  readonly title: string;
  /** The first sentence. */
  readonly summary: string;
  readonly html: string;
  readonly passages: readonly PagePassage[];
}

interface RenderOptions {
  /** The Markdown file, from the top of the repository. */
  readonly file: string;
  /** Returns the address of a page by its file; undefined if the page is not served. */
  addressOf(file: string): string | undefined;
  titleOf(file: string): string;
  /** Headings of the second level that are left out, with what is below them. */
  readonly without?: readonly string[];
}

export function renderPage(markdown: string, options: RenderOptions): RenderedPage {
  const tree = fromMarkdown(markdown, {
    extensions: [gfmTable()],
    mdastExtensions: [gfmTableFromMarkdown()],
  });
  const root: Root = { ...tree, children: withoutSections(tree.children, options.without ?? []) };
  const [heading, ...body] = root.children.filter(({ type }) => type !== "html");
  if (heading?.type !== "heading" || heading.depth !== 1) {
    throw new Error(`${options.file} must begin with a heading of the first level`);
  }
  resolveLinks(root, options);
  const hast = toHast(root, { allowDangerousHtml: true }) as HtmlRoot;
  const html: HtmlRoot = { type: "root", children: hast.children.flatMap(refine) };
  const passages = setAnchors(html);
  return {
    title: textOf(heading),
    summary: firstSentence(body.find(({ type }) => type === "paragraph")),
    html: toHtml(html),
    passages,
  };
}

function withoutSections(children: Root["children"], titles: readonly string[]): Root["children"] {
  let isLeftOut = false;
  return children.filter((child) => {
    if (child.type === "heading" && child.depth <= 2) {
      isLeftOut = titles.includes(textOf(child));
    }
    return !isLeftOut;
  });
}

/** Links to files become links to their pages; those to what is not served become their text. */
function resolveLinks(node: Nodes, options: RenderOptions): void {
  if (node.type === "image") {
    node.url = resolveFile(node.url, options) ?? node.url;
  }
  if (!("children" in node)) {
    return;
  }
  const children: readonly Nodes[] = node.children;
  node.children = children.flatMap((child): readonly Nodes[] => {
    resolveLinks(child, options);
    return child.type === "link" ? resolveLink(child, options) : [child];
  }) as typeof node.children;
}

function resolveFile(path: string, { file, addressOf }: RenderOptions): string | undefined {
  return addressOf(posix.join(posix.dirname(file), path));
}

function resolveLink(link: Link, options: RenderOptions): Link[] | Link["children"] {
  if (/^(https?:|#)/.test(link.url)) {
    return [link];
  }
  const [path = "", anchor] = link.url.split("#");
  const address = resolveFile(path, options);
  if (address === undefined) {
    return link.children;
  }
  // A link with the name of its file as text: readers of the pages see no files.
  const isFileName = textOf(link).endsWith(".md");
  const title = options.titleOf(posix.join(posix.dirname(options.file), path));
  const children = isFileName ? [{ type: "text" as const, value: title }] : link.children;
  return [{ ...link, children, url: anchor === undefined ? address : `${address}#${anchor}` }];
}

/** Raw HTML is dropped, but for line breaks in tables. Tables and examples can be scrolled. */
function refine(node: HtmlNodes): ElementContent[] {
  if (node.type === "raw") {
    return /^<br ?\/?>$/.test(node.value) ? [element("br", {}, [])] : [];
  }
  if (node.type === "text") {
    return [node];
  }
  if (node.type !== "element") {
    return [];
  }
  const refined = { ...node, children: node.children.flatMap(refine) };
  if (node.tagName === "pre") {
    // Wide ones can be scrolled with the keyboard.
    return [{ ...refined, properties: { tabIndex: 0 } }];
  }
  return node.tagName === "table"
    ? [element("div", { className: ["table"], tabIndex: 0, role: "region", ariaLabel: "Table" }, [refined])]
    : [refined];
}

/** Gives the headings anchors as GitHub does. @returns the text below each heading of the second level. */
function setAnchors(root: HtmlRoot): readonly PagePassage[] {
  const slugger = new GithubSlugger();
  const passages: { heading: string; anchor: string; texts: string[] }[] = [];
  for (const child of root.children) {
    const isHeading = child.type === "element" && /^h[1-6]$/.test(child.tagName);
    if (isHeading) {
      const title = textIn(child);
      const anchor = slugger.slug(title);
      if (child.tagName !== "h1") {
        child.properties.id = anchor;
      }
      if (child.tagName === "h1" || child.tagName === "h2") {
        passages.push({ heading: title, anchor: child.tagName === "h1" ? "" : anchor, texts: [] });
        continue;
      }
    }
    passages.at(-1)?.texts.push(textIn(child));
  }
  return passages.map(({ texts, ...passage }) => ({
    ...passage,
    text: texts.join(" ").replace(/\s+/g, " ").trim(),
  }));
}

function element(tagName: string, properties: Element["properties"], children: ElementContent[]): Element {
  return { type: "element", tagName, properties, children };
}

function textOf(node: Nodes | undefined): string {
  if (!node) {
    return "";
  }
  return "children" in node ? node.children.map(textOf).join("") : "value" in node ? node.value : "";
}

/** Cells and lines are separated, so that the search sees words. */
function textIn(node: HtmlNodes): string {
  if (node.type === "text") {
    return node.value;
  }
  if (!("children" in node)) {
    return "";
  }
  const isSeparated = node.type === "element" && ["td", "th", "li", "p"].includes(node.tagName);
  return node.children.map(textIn).join("") + (isSeparated ? " " : "");
}

function firstSentence(node: Nodes | undefined): string {
  return /^.*?[.:](?= |$)/s.exec(textOf(node))?.[0].replace(/:$/, ".") ?? textOf(node);
}
