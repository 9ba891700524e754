/**
 * Reads HTML: headings, paragraphs, lists and tables of the main content.
 *
 * It reads the events of a parser and builds no tree, so that a page of very many elements takes little memory. Menus,
 * headers, footers, dialogs and what a browser does not show are left out. If the page marks its main content, the
 * rest is left out too.
 */
import { Parser } from "htmlparser2";
import type { DocumentBlock } from "../../ports/document-reader.ts";
import { BlockCollector } from "./html-blocks.ts";
import { type DocumentLimits, maxDepth, tooComplex, UnreadableError } from "./limits.ts";

const words = (text: string) => new Set(text.split(" "));

const skipped = words(
  "script style noscript template head nav aside footer svg math canvas iframe object embed dialog button select textarea datalist audio video map menu",
);
const skippedRoles = words(
  "navigation banner contentinfo search dialog alertdialog menu menubar complementary",
);
const mainElements = words("main article");
/** In the class or id of an element: a request for consent, or a menu. */
const noise = /\b(?:cookie|consent|gdpr|breadcrumb|navbar|sidebar|site-?(?:header|footer|nav))/i;
/** A page may have the state of its consent as a class of these, and they hold everything. */
const containers = words("html body main article");

/** Less than this is not the content, but for example an empty element that a program fills. */
const minMainLength = 100;

type Attributes = Readonly<Record<string, string>>;

export function readHtml(text: string, { elements }: Pick<DocumentLimits, "elements">): DocumentBlock[] {
  const collector = new BlockCollector();
  const open: { readonly isSkipped: boolean; readonly isMain: boolean }[] = [];
  let count = 0;
  let skippedDepth = 0;
  let mainDepth = 0;
  const parser = new Parser(
    {
      onopentag(name, attributes) {
        count += 1;
        if (count > elements || open.length >= maxDepth) {
          throw new UnreadableError("too_complex", tooComplex);
        }
        const isMain = mainElements.has(name) || attributes.role === "main";
        const isSkipped = isLeftOut(name, attributes, mainDepth > 0);
        if (skippedDepth === 0 && !isSkipped) {
          collector.open(name, mainDepth > 0 || isMain);
        }
        open.push({ isSkipped, isMain });
        skippedDepth += Number(isSkipped);
        mainDepth += Number(isMain);
      },
      ontext(data) {
        if (skippedDepth === 0) {
          collector.add(data);
        }
      },
      onclosetag(name) {
        // Also called for elements without an end, and at the end for those that are not closed.
        const element = open.pop();
        if (element) {
          skippedDepth -= Number(element.isSkipped);
          mainDepth -= Number(element.isMain);
        }
        if (skippedDepth === 0 && !element?.isSkipped) {
          collector.close(name, mainDepth > 0);
        }
      },
    },
    { decodeEntities: true, lowerCaseTags: true, lowerCaseAttributeNames: true },
  );
  parser.write(text);
  parser.end();
  const { main, all } = collector.end();
  return lengthOf(main) >= minMainLength ? main : all;
}

function isLeftOut(name: string, attributes: Attributes, isInMain: boolean): boolean {
  const { role = "", hidden, style = "", class: className = "", id = "" } = attributes;
  return (
    skipped.has(name) ||
    // The header of an article is its title.
    (name === "header" && !isInMain) ||
    skippedRoles.has(role) ||
    hidden !== undefined ||
    attributes["aria-hidden"] === "true" ||
    /display\s*:\s*none|visibility\s*:\s*hidden/i.test(style.slice(0, 1_000)) ||
    (!containers.has(name) && noise.test(`${className} ${id}`.slice(0, 1_000)))
  );
}

function lengthOf(blocks: readonly DocumentBlock[]): number {
  return blocks.reduce(
    (length, block) => length + (block.kind === "table" ? block.rows.join().length : block.text.length),
    0,
  );
}
