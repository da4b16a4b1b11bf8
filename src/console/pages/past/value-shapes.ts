/** Past values in readable form, from the commands that create them. */
import { indentedJson } from '../../parts/json.js';
import { type PastLook, type PastText, shownText } from './moments.js';

export type PastWords = readonly PastText[];

/** For each type: its commands, and the names of the words that form one item after the key. */
export const SHAPES: Readonly<Record<string, readonly [names: readonly string[], titles: readonly string[]]>> = {
  hash: [
    ['HSET', 'HMSET'],
    ['Field', 'Value'],
  ],
  list: [['RPUSH'], ['Element']],
  set: [['SADD'], ['Member']],
  zset: [['ZADD'], ['Score', 'Member']],
  array: [['ARMSET'], ['Index', 'Value']],
};

/** Types with an order; the items of other types are sorted, so that equal values have equal lines. */
const ORDERED: readonly string[] = ['list', 'array'];

/** The items of a collection, each as its words. */
export function itemsOf({ type, commands = [] }: PastLook): readonly PastWords[] {
  const [names, titles] = SHAPES[type] ?? [[], []];
  return commands
    .filter(([name]) => names.includes(String(name)))
    .flatMap((words) => {
      const items: PastWords[] = [];
      for (let at = 2; at + titles.length <= words.length; at += titles.length)
        items.push(words.slice(at, at + titles.length));
      return items;
    });
}

/** The value line by line, for comparing two versions. No lines: it was not there. */
export function linesOf(look: PastLook | undefined): string[] {
  if (look === undefined) return [];
  const { type, commands = [] } = look;
  const [first] = commands;
  if (type === 'string' && first?.[0] === 'SET') return textLines(shownText(first[2] ?? ''));
  if (SHAPES[type] === undefined) return commands.flatMap((words) => documentLines(words) ?? [lineOf(words)]);
  const lines = itemsOf(look).map((words) => words.map(shownText).join(type === 'zset' ? '  ' : ': '));
  return ORDERED.includes(type) ? lines : lines.sort();
}

/** A JSON document as indented lines. */
function documentLines(words: PastWords): string[] | undefined {
  return words[0] === 'JSON.SET' ? textLines(shownText(words[3] ?? '')) : undefined;
}

function textLines(text: string): string[] {
  if (/^\s*[[{]/.test(text)) {
    try {
      return indentedJson(text).split('\n');
    } catch {
      // It only looks like JSON.
    }
  }
  return text.split('\n');
}

/** As typed in a command line. */
export function lineOf(words: PastWords): string {
  return words.map((word) => quoted(shownText(word))).join(' ');
}

function quoted(text: string): string {
  return /^[\w.:/@+*~-]+$/.test(text) ? text : JSON.stringify(text);
}
