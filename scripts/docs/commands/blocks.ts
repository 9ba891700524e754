/** Finds the commands of a guide: its fenced `sh` blocks, and why some of them are not run. */
import type { Nodes } from "mdast";
import { fromMarkdown } from "mdast-util-from-markdown";

export interface Block {
  readonly line: number;
  readonly commands: string;
  /** From the comment before the block: `<!-- not run: needs Docker -->`. */
  readonly notRun: string | undefined;
}

const reasonPattern = /^<!-- not run: (\S.*) -->$/;

export function readBlocks(markdown: string): readonly Block[] {
  const blocks = blocksIn(fromMarkdown(markdown));
  const reasons = markdown.match(/<!-- not run/g) ?? [];
  if (reasons.length !== blocks.filter(({ notRun }) => notRun !== undefined).length) {
    throw new Error(
      "Each comment must be `<!-- not run: REASON -->` on a line of its own, directly before a sh block.",
    );
  }
  return blocks;
}

function blocksIn(parent: Nodes): readonly Block[] {
  if (!("children" in parent)) {
    return [];
  }
  return parent.children.flatMap((node, index) => {
    if (node.type !== "code" || node.lang !== "sh") {
      return blocksIn(node);
    }
    const before = parent.children[index - 1];
    const [, notRun] = (before?.type === "html" && reasonPattern.exec(before.value)) || [];
    return [{ line: node.position?.start.line ?? 0, commands: node.value, notRun }];
  });
}
