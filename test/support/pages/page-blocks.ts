/**
 * Parses the fenced blocks of a page under docs and the attributes of their fences. docs/testing.md describes all
 * supported attributes.
 */
import { readFileSync } from 'node:fs';

export interface PageBlock {
  readonly page: string;
  /** The line of the fence, from 1. */
  readonly line: number;
  /** The second-level heading above the block. */
  readonly section: string;
  /** The paragraph before the block. */
  readonly paragraph: string;
  readonly language: string;
  /**
   * The attributes after the language: `terminal=receiver norun="another machine"`. A word without a value is its own
   * value.
   */
  readonly words: ReadonlyMap<string, string>;
  readonly text: string;
}

/** The languages of blocks that a reader would run. */
export const SHELL = 'sh';
export const PROGRAMS: ReadonlyMap<string, string> = new Map([
  ['js', 'mjs'],
  ['python', 'py'],
]);

export function isRunnable({ language, words }: PageBlock): boolean {
  return (language === SHELL || PROGRAMS.has(language)) && !words.has('norun');
}

/** @param page the path of the page from the root of the repository */
export function blocksOf(page: string): PageBlock[] {
  const source = readFileSync(page, 'utf8');
  return [...source.matchAll(/^```(\S*)([^\n]*)\n([\s\S]*?)^```$/gm)].map(
    ({ index, 1: language = '', 2: words = '', 3: text = '' }) => {
      const before = source.slice(0, index);
      return {
        page,
        line: before.split('\n').length,
        section: [...before.matchAll(/^## (.*)$/gm)].at(-1)?.[1] ?? '',
        paragraph: before.trimEnd().split(/\n\n/).at(-1) ?? '',
        language,
        words: wordsOf(words),
        text,
      };
    },
  );
}

/**
 * The blocks that a page takes from other pages: `<!-- takes q, receiver from publishing.md -->`, with paths relative
 * to the page's folder.
 */
export function takenBy(page: string): PageBlock[] {
  const source = readFileSync(page, 'utf8');
  return [...source.matchAll(/^<!-- takes (.*?) from (\S+) -->$/gm)].flatMap(([, names = '', from = '']) => {
    const there = blocksOf(new URL(from, `file:///${page}`).pathname.slice(1));
    return names.split(', ').map((name) => {
      const found = there.find(({ words }) => words.get('name') === name || words.get('terminal') === name);
      if (found === undefined) throw new Error(`${page} takes ${name} from ${from}, which has no block of that name`);
      return found;
    });
  });
}

function wordsOf(text: string): Map<string, string> {
  const found = text.matchAll(/([\w-]+)(?:=(?:"([^"]*)"|(\S+)))?/g);
  return new Map([...found].map(([, word = '', quoted, plain]) => [word, quoted ?? plain ?? word]));
}
