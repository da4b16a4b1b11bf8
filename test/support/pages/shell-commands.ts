/** Parses the commands of a shell block, each with the comment on its line and the comment lines below it. */

export interface ShellCommand {
  readonly text: string;
  /** One line each, without the `#`. */
  readonly comments: readonly string[];
}

export function commandsOf(block: string): ShellCommand[] {
  const commands: { text: string; comments: string[] }[] = [];
  let open = '';
  for (const line of block.split('\n')) {
    const { code, comment, isOpen } = scanned(open, line);
    if (isOpen) {
      open = `${code}\n`;
      continue;
    }
    open = '';
    if (code.trim() !== '') commands.push({ text: code, comments: comment === '' ? [] : [comment] });
    else if (comment !== '') commands.at(-1)?.comments.push(comment);
  }
  if (open !== '') throw new Error(`a block ends in the middle of ${open}`);
  return commands;
}

/**
 * Scans a line with the unfinished text before it: where the code ends and a comment starts, and whether the command
 * continues.
 */
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
