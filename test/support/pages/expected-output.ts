/**
 * What the comments of a block say it prints. A comment that begins with `{`, `[` or a quote is JSON, compared whole; behind
 * it there may be prose. One that begins with `→` has a line of the output, and so have those that follow and begin alike:
 * they come in that order, with anything between them. `…` stands for anything, and a space for any. A comment such as
 * `the receiver: POST /orders` tells what another terminal of the page prints. All other comments are for readers alone.
 */

export interface Expected {
  /** Undefined: nothing is said. */
  readonly printed: RegExp | undefined;
  /** Of other terminals. */
  readonly elsewhere: readonly { readonly terminal: string; readonly text: string }[];
}

/** @param comments a line each, without the sign. @param terminals the names that a comment can speak of */
export function expectedOf(comments: readonly string[], terminals: readonly string[]): Expected {
  const elsewhere = comments.flatMap((comment) => {
    const [, terminal = '', text = ''] = new RegExp(`\\b(${terminals.join('|')})\\b[^:→]*: (.+)$`).exec(comment) ?? [];
    return terminals.includes(terminal) ? [{ terminal, text }] : [];
  });
  const lines = comments.filter((comment) => comment.startsWith('→')).map((comment) => comment.slice(1).trim());
  if (lines.length > 0) return { printed: inOrder(lines), elsewhere };
  return { printed: asJson(comments.map((comment) => comment.trim()).join('')), elsewhere };
}

/** These texts, one behind the other, in whatever else there is. */
export function inOrder(texts: readonly string[]): RegExp {
  return new RegExp(texts.map(withGaps).join('[^]*'));
}

/** Comments of a JavaScript or Python program, from its statements' ends. */
export function programComments(text: string, sign: '//' | '#'): string[] {
  const found = text.split('\n').map((line) => line.split(new RegExp(`(?:^|\\s)${sign} `)));
  return found.flatMap(([, comment]) => (comment === undefined ? [] : [comment]));
}

/** Of a program all that its comments expect, in their order. Other comments stand between them, so each counts for itself. */
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

/** The value that the text begins with. */
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
