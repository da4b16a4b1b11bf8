/**
 * Parses the output that a block's comments promise. A comment that starts with `{`, `[` or a quote is JSON and is
 * compared as a whole; prose may follow it. A comment that starts with `→` is a line of the output, as are the
 * following comments that start alike; other output may stand between these lines. `…` matches any text, and a space
 * any white space. A comment such as `the receiver: POST /orders` is output of another terminal of the page. All
 * other comments are for readers only.
 */

export interface Expected {
  /** Undefined if the comments promise no output. */
  readonly printed: RegExp | undefined;
  /** The output of other terminals. */
  readonly elsewhere: readonly { readonly terminal: string; readonly text: string }[];
}

/** @param comments one line each, without the comment sign. @param terminals the names of terminals */
export function expectedOf(comments: readonly string[], terminals: readonly string[]): Expected {
  const elsewhere = comments.flatMap((comment) => {
    const [, terminal = '', text = ''] = new RegExp(`\\b(${terminals.join('|')})\\b[^:→]*: (.+)$`).exec(comment) ?? [];
    return terminals.includes(terminal) ? [{ terminal, text }] : [];
  });
  const lines = comments.filter((comment) => comment.startsWith('→')).map((comment) => comment.slice(1).trim());
  if (lines.length > 0) return { printed: inOrder(lines), elsewhere };
  return { printed: asJson(comments.map((comment) => comment.trim()).join('')), elsewhere };
}

/** A pattern that matches these texts in order, with any text between them. */
export function inOrder(texts: readonly string[]): RegExp {
  return new RegExp(texts.map(withGaps).join('[^]*'));
}

/** The comments at the ends of statements in a JavaScript or Python program. */
export function programComments(text: string, sign: '//' | '#'): string[] {
  const found = text.split('\n').map((line) => line.split(new RegExp(`(?:^|\\s)${sign} `)));
  return found.flatMap(([, comment]) => (comment === undefined ? [] : [comment]));
}

/**
 * The expected output of a program, in the order of its comments. Each comment counts separately, because other
 * comments may stand between them.
 */
export function expectedOfProgram(comments: readonly string[]): RegExp | undefined {
  const texts = comments.flatMap((comment) => {
    if (comment.startsWith('→')) return [comment.slice(1).trim()];
    return /^[{[]/.test(comment) ? [balanced(comment)] : [];
  });
  return texts.length > 0 ? inOrder(texts) : undefined;
}

function asJson(comment: string): RegExp | undefined {
  if (!/^(?:[{[]|"[^"]*"(?!:))/.test(comment)) return undefined;
  return new RegExp(`^${withGaps(balanced(comment))}\\s*$`);
}

/** Returns the JSON value at the start of the text. */
function balanced(text: string): string {
  if (text.startsWith('"')) return text.slice(0, text.indexOf('"', 1) + 1);
  let depth = 0;
  for (let at = 0; at < text.length; at += 1) {
    if (/[{[]/.test(text[at] as string)) depth += 1;
    if (/[}\]]/.test(text[at] as string)) depth -= 1;
    if (depth === 0) return text.slice(0, at + 1);
  }
  return text;
}

function withGaps(text: string): string {
  const literally = (part: string) => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&').replace(/\s+/g, '\\s+');
  return text
    .split(/\s*…\s*/)
    .map(literally)
    .join('[^]*');
}
