/**
 * Reads HTML: headings, paragraphs, lists and tables of the main content.
 *
 * The reader uses the events of a parser and builds no tree, so that a page with very many elements takes
 * little memory. Menus, headers, footers, dialogs and content that a browser does not show are left out. If
 * the page marks its main content, everything else is left out too. Articles are the main content if they
 * contain most of the text: some shops show each related product as an article.
 */
import { Parser } from "htmlparser2";
import type { DocumentBlock } from "../../ports/files/document-reader.ts";
import { BlockCollector, type BlockPlace, type CollectedBlocks } from "./html-blocks.ts";
import { type DocumentLimits, maxDepth, tooComplex, UnreadableError } from "./limits.ts";

const words = (text: string) => new Set(text.split(" "));

const skipped = words(
  "script style noscript template head nav aside footer svg math canvas iframe object embed dialog button select textarea datalist audio video map menu",
);
const skippedRoles = words(
  "navigation banner contentinfo search dialog alertdialog menu menubar complementary",
);
/**
 * Matches the class or id of a request for consent, or of a menu. The class `has-sidebar` belongs to an
 * element around the content, and `cookie-policy` is a text of its own, so neither matches.
 */
const noise =
  /(?<!\b(?:has|no|with|without)[-_])\b(?:cookie(?![-_]?polic)|consent|gdpr|breadcrumb|navbar|sidebar|site-?(?:header|footer|nav))/i;
/**
 * Elements that contain the whole page. They may have the state of consent as a class, and are not skipped.
 */
const containers = words("html body main article");

/** A shorter main element is not the content, but for example an empty element that a script fills. */
const minMainLength = 100;

type Attributes = Readonly<Record<string, string>>;

interface OpenElement {
  readonly name: string;
  readonly isSkipped: boolean;
  readonly place: BlockPlace;
}

export function readHtml(text: string, { elements }: Pick<DocumentLimits, "elements">): DocumentBlock[] {
  const collector = new BlockCollector();
  const open: OpenElement[] = [];
  /** The ids of the elements that buttons in headings show and hide. */
  const panels = new Set<string>();
  let count = 0;
  let skippedDepth = 0;
  const parser = new Parser(
    {
      onopentag(name, attributes) {
        count += 1;
        if (count > elements || open.length >= maxDepth) {
          throw new UnreadableError("too_complex", tooComplex);
        }
        const parent = open.at(-1);
        const place = placeOf(name, attributes, parent?.place);
        const isInHeading = parent !== undefined && isHeading(parent.name);
        if (isInHeading && attributes["aria-controls"] !== undefined) {
          panels.add(attributes["aria-controls"]);
        }
        const isShownByButton = panels.has(attributes.id ?? "");
        const isSkipped =
          (skipped.has(name) && !(name === "button" && isInHeading)) ||
          isLeftOut(name, attributes, parent?.place) ||
          (isHidden(attributes) && !isShownByButton);
        if (skippedDepth === 0 && !isSkipped) {
          collector.open(name, place);
        }
        open.push({ name, isSkipped, place });
        skippedDepth += Number(isSkipped);
      },
      ontext(data) {
        if (skippedDepth === 0) {
          collector.add(data);
        }
      },
      onclosetag(name) {
        // Also called for elements without a closing tag, and at the end for elements that are not closed.
        const element = open.pop();
        skippedDepth -= Number(element?.isSkipped ?? false);
        if (skippedDepth === 0 && !element?.isSkipped) {
          collector.close(name, open.at(-1)?.place ?? "rest");
        }
      },
    },
    { decodeEntities: true, lowerCaseTags: true, lowerCaseAttributeNames: true },
  );
  parser.write(text);
  parser.end();
  return chooseContent(collector.end());
}

function placeOf(name: string, { role }: Attributes, outer: BlockPlace = "rest"): BlockPlace {
  if (name === "main" || role === "main" || outer === "main") {
    return "main";
  }
  return name === "article" ? "article" : outer;
}

function isHeading(name: string): boolean {
  return /^h[1-6]$/.test(name);
}

function isLeftOut(name: string, attributes: Attributes, outer: BlockPlace = "rest"): boolean {
  const { role = "", class: className = "", id = "" } = attributes;
  return (
    // The header of an article contains its title, so only other headers are skipped.
    (name === "header" && outer === "rest") ||
    skippedRoles.has(role) ||
    (!containers.has(name) && noise.test(`${className} ${id}`.slice(0, 1_000)))
  );
}

function isHidden({ hidden, style = "", "aria-hidden": ariaHidden }: Attributes): boolean {
  return (
    hidden !== undefined ||
    ariaHidden === "true" ||
    /display\s*:\s*none|visibility\s*:\s*hidden/i.test(style.slice(0, 1_000))
  );
}

function chooseContent({ main, articles, all }: CollectedBlocks): DocumentBlock[] {
  if (lengthOf(main) >= minMainLength) {
    return main;
  }
  const length = lengthOf(articles);
  return length >= minMainLength && length >= lengthOf(all) / 2 ? articles : all;
}

function lengthOf(blocks: readonly DocumentBlock[]): number {
  return blocks.reduce(
    (length, block) => length + (block.kind === "table" ? block.rows.join().length : block.text.length),
    0,
  );
}
