/**
 * The commands of a page of the guide, with what the page says they print. An expectation is JSON in the comment of
 * a command, or in the comment lines below it; `…` in it stands for anything. Other comments are for readers alone.
 */
import { readFileSync } from 'node:fs';

export interface GuideCommand {
  readonly text: string;
  /** Undefined: the page does not say. */
  readonly prints: RegExp | undefined;
}

/** @param page its name in docs/guide. @param translated what the page's ports and tokens are here */
export function guideCommands(page: string, translated: (text: string) => string): GuideCommand[] {
  const text = readFileSync(`docs/guide/${page}`, 'utf8');
  const blocks = [...text.matchAll(/^```sh\n([\s\S]*?)^```/gm)].map(([, block = '']) => block);
  return blocks.flatMap((block) => commandsOf(translated(block)));
}

function commandsOf(block: string): GuideCommand[] {
  const commands: { text: string; comment: string }[] = [];
  let open = '';
  for (const line of block.split('\n')) {
    const { code, comment, isOpen } = scanned(open, line);
    if (isOpen) {
      open = `${code}\n`;
      continue;
    }
    open = '';
    if (code.trim() !== '') commands.push({ text: code, comment });
    else if (comment !== '') (commands.at(-1) as { comment: string }).comment += comment;
  }
  return commands.map(({ text, comment }) => ({ text, prints: expectation(comment) }));
}

/** A line behind what stands before it: where the code ends and a comment begins, and whether more has to follow. */
function scanned(before: string, line: string): { code: string; comment: string; isOpen: boolean } {
  const text = before + line;
  let quote = '';
  for (let at = 0; at < text.length; at += 1) {
    const character = text[at] as string;
    if (quote !== '') {
      if (character === quote) quote = '';
    } else if (character === "'" || character === '"') quote = character;
    else if (character === '#' && /^\s?$/.test(text[at - 1] ?? '')) {
      return { code: text.slice(0, at), comment: text.slice(at + 1).trim(), isOpen: false };
    }
  }
  return { code: text, comment: '', isOpen: quote !== '' || text.endsWith('\\') };
}

function expectation(comment: string): RegExp | undefined {
  if (!/^[{[]/.test(comment)) return undefined;
  let depth = 0;
  let end = 0;
  do {
    if (/[{[]/.test(comment[end] as string)) depth += 1;
    if (/[}\]]/.test(comment[end] as string)) depth -= 1;
    end += 1;
  } while (depth > 0 && end < comment.length);
  const parts = comment.slice(0, end).split(/\s*…\s*/);
  return new RegExp(`^${parts.map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')).join('[^]*')}\\s*$`);
}
