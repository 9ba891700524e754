/**
 * Reads Markdown: headings, paragraphs, lists, code and tables. Plain text is read as Markdown that has only
 * paragraphs.
 */
import type { Nodes, Parents, RootContent, Table } from "mdast";
import { fromMarkdown } from "mdast-util-from-markdown";
import { gfmTableFromMarkdown } from "mdast-util-gfm-table";
import { gfmTable } from "micromark-extension-gfm-table";
import type { DocumentBlock } from "../../ports/files/document-reader.ts";
import { readHtml } from "./html.ts";
import type { DocumentLimits } from "./limits.ts";

/** Settings at the beginning of the text, between two lines of dashes, as static site generators use. */
const frontMatter = /^\ufeff?---\r?\n[\s\S]{0,10000}?\r?\n---[ \t]*(?:\r?\n|$)/;

export function readMarkdown(text: string, limits: DocumentLimits): DocumentBlock[] {
  const tree = fromMarkdown(text.replace(frontMatter, ""), {
    extensions: [gfmTable()],
    mdastExtensions: [gfmTableFromMarkdown()],
  });
  return tree.children.flatMap((node) => toBlocks(node, limits));
}

function toBlocks(node: RootContent, limits: DocumentLimits): DocumentBlock[] {
  const page = null;
  if (node.type === "heading") {
    return [{ kind: "heading", level: node.depth, text: textOf(node), page }];
  }
  if (node.type === "table") {
    return [{ kind: "table", rows: rowsOf(node), page }];
  }
  if (node.type === "list") {
    return node.children.flatMap((item, index) => {
      const [first, ...others] = item.children.flatMap((child) => toBlocks(child, limits));
      if (first === undefined || first.kind === "heading" || first.kind === "table") {
        return [...(first ? [first] : []), ...others];
      }
      const mark = node.ordered ? `${(node.start ?? 1) + index}. ` : "- ";
      return [{ kind: "item" as const, text: `${mark}${first.text}`, page }, ...others];
    });
  }
  if (node.type === "html") {
    return readHtml(node.value, limits);
  }
  if (node.type === "blockquote" || node.type === "footnoteDefinition") {
    return node.children.flatMap((child) => toBlocks(child, limits));
  }
  const text = textOf(node);
  return text === "" ? [] : [{ kind: "text", text, page }];
}

function rowsOf({ children }: Table): string[] {
  return children.map((row) => row.children.map(textOf).join(" | "));
}

/** The text of a node without markup. HTML tags between words are left out. */
function textOf(node: Nodes): string {
  if (node.type === "break") {
    return "\n";
  }
  if (node.type === "html" || node.type === "definition") {
    return "";
  }
  if ("alt" in node) {
    return node.alt ?? "";
  }
  return "value" in node ? node.value : isParent(node) ? node.children.map(textOf).join("") : "";
}

function isParent(node: Nodes): node is Parents {
  return "children" in node;
}
