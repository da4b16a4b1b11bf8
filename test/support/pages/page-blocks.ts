/**
 * The fenced blocks of a page under docs, and what its fences say of them. docs/testing.md has the convention; what is not
 * said there is not understood here.
 */
import { readFileSync } from 'node:fs';

export interface PageBlock {
  readonly page: string;
  /** Of its fence, from 1. */
  readonly line: number;
  /** The heading of the second level that it stands under. */
  readonly section: string;
  /** The paragraph in front of it. */
  readonly paragraph: string;
  readonly language: string;
  /** What stands behind the language: `terminal=receiver norun="another machine"`. A bare word is its own value. */
  readonly words: ReadonlyMap<string, string>;
  readonly text: string;
}

/** Languages whose blocks a reader would run. */
export const SHELL = 'sh';
export const PROGRAMS: ReadonlyMap<string, string> = new Map([
  ['js', 'mjs'],
  ['python', 'py'],
]);

export function isRunnable({ language, words }: PageBlock): boolean {
  return (language === SHELL || PROGRAMS.has(language)) && !words.has('norun');
}

/** @param page its path from the root of the repository */
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

/** What the page takes over from others: `<!-- takes q, receiver from publishing.md -->`, paths from the page's folder. */
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
