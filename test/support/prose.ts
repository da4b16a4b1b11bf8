/**
 * Counts the phrases that the style page of CONTRIBUTING.md replaces: pronouns in place of a noun, and adverbs with a
 * plainer word. A kind of text is a set of files and a function that takes the prose out of a file.
 */
import { readFileSync } from 'node:fs';
import { type TextFile, textsBelow } from './promise-numbers.js';

export interface ProseKind {
  readonly name: string;
  readonly files: () => TextFile[];
  readonly proseOf: (text: string) => string;
}

export interface FileProse {
  readonly file: string;
  readonly words: number;
  /** The phrases in lower case, in the order of the text. */
  readonly phrases: readonly string[];
}

const PRONOUNS = 'what(?:ever)?|who(?:ever|mever|m|se)|whichever|no(?:body|thing|where)|(?:any|every|some)body';
const ADVERBS = 'anew|beside|behind|meanwhile|at once|by and by|of its own|so that one|shall';
const PHRASE = new RegExp(`\\b(?:${PRONOUNS}|${ADVERBS})\\b`, 'gi');
const WORD = /[a-z][a-z'’-]*/gi;

/**
 * Matches a comment or a literal of TypeScript. Comments in literals and quotes in comments are not matched
 * separately.
 */
const LEXEME = /\/\*[\s\S]*?\*\/|\/\/.*|'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"|`(?:[^`\\]|\\[\s\S])*`/g;
const TITLE = /\b(?:context|describe|it)(?:\.\w+)?\(\s*('(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"|`(?:[^`\\]|\\.)*`)/g;
/** Matches the text of a JSX element with at least two words. */
const MARKUP = />([^<>{}]*[a-z] [a-z][^<>{}]*)</gi;
const TWO_WORDS = /[a-z] [a-z]/i;

export const PROSE_KINDS: readonly ProseKind[] = [
  { name: 'comments of src', files: () => programs('src'), proseOf: commentsIn },
  { name: 'titles of tests', files: () => programs('test'), proseOf: titlesIn },
  { name: 'docs', files: pages, proseOf: textOfPage },
  {
    name: 'texts of the console and the command line',
    files: () => [...programs('src/console'), ...programs('src/cli')],
    proseOf: textsIn,
  },
];

/** One element for each file with such prose. */
export function proseOf(kind: ProseKind): FileProse[] {
  return kind.files().flatMap(({ file, text }) => {
    const prose = kind.proseOf(text);
    const words = prose.match(WORD)?.length ?? 0;
    return words === 0 ? [] : [{ file, words, phrases: phrasesIn(prose) }];
  });
}

export function phrasesIn(prose: string): string[] {
  return (prose.match(PHRASE) ?? []).map((phrase) => phrase.toLowerCase());
}

/** Phrases per 1,000 words. */
export function rateOf(files: readonly FileProse[]): number {
  const words = files.reduce((sum, file) => sum + file.words, 0);
  const phrases = files.reduce((sum, file) => sum + file.phrases.length, 0);
  return (phrases * 1000) / Math.max(1, words);
}

/**
 * One line for each of the files with the most phrases per word. Very short texts are left out, because a single
 * phrase would give them a high rate.
 */
export function worstOf(files: readonly FileProse[], count: number): string[] {
  return files
    .filter(({ words, phrases }) => phrases.length > 0 && (words >= 40 || phrases.length > 1))
    .sort((one, other) => rateOf([other]) - rateOf([one]))
    .slice(0, count)
    .map((file) => `${file.file}: ${rateOf([file]).toFixed(1)} (${file.phrases.join(', ')})`);
}

export function commentsIn(text: string): string {
  return lexemes(text)
    .filter((lexeme) => /^\/[/*]/.test(lexeme))
    .map((comment) => comment.replaceAll(/^\s*\*+\/?/gm, ' '))
    .join('\n');
}

export function titlesIn(text: string): string {
  return [...text.matchAll(TITLE)].map(([, title = '']) => title.slice(1, -1)).join('\n');
}

/** The text of a page without code and link targets. */
export function textOfPage(text: string): string {
  return text.replaceAll(/^ *```[\s\S]*?^ *```/gm, ' ').replaceAll(/`[^`]*`|\]\([^)\s]*\)/g, ' ');
}

/** Literals and element texts with at least two words. */
export function textsIn(text: string): string {
  const isText = (lexeme: string) => /^['"`]/.test(lexeme) && TWO_WORDS.test(lexeme);
  const literals = lexemes(text).filter(isText);
  return [...literals, ...[...text.matchAll(MARKUP)].map(([, markup = '']) => markup)].join('\n');
}

function lexemes(text: string): string[] {
  return text.match(LEXEME) ?? [];
}

function programs(folder: string): TextFile[] {
  return [...textsBelow(folder), ...textsBelow(folder, '.tsx')];
}

function pages(): TextFile[] {
  const atRoot = ['README.md', 'CONTRIBUTING.md', 'SECURITY.md', 'CHANGELOG.md'];
  return [...atRoot.map((file) => ({ file, text: readFileSync(file, 'utf8') })), ...textsBelow('docs', '.md')];
}
