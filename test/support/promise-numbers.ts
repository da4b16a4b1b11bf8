/** Finds the numbers of promises in the text of files: where they are defined and where they are cited. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

export interface TextFile {
  readonly file: string;
  readonly text: string;
}

const GIVEN = /^ \* {2}([A-Z]{2,4}\d{1,2}) /gm;
const CITED = /(?<![\w$%.\\-])([A-Z]{2,4})(\d{1,2})(?:–([A-Z]{2,4})?(\d{1,2}))?(?![\w'])/g;
/** Matches comments and titles of tests. */
const SPOKEN = /\/\*[\s\S]*?\*\/|(?<!:)\/\/[^\n]*|\b(?:describe|it)\(\s*(?:'[^'\n]*'|`[^`]*`)/g;

/** The texts of all files below a folder of the project. */
export function textsBelow(folder: string, ending = '.ts'): TextFile[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const file = join(folder, entry.name);
    if (entry.isDirectory()) return textsBelow(file, ending);
    return entry.name.endsWith(ending) ? [{ file, text: readFileSync(file, 'utf8') }] : [];
  });
}

export function promisesIn(text: string): string[] {
  return [...text.matchAll(GIVEN)].map(([, number = '']) => number);
}

export function definitions(files: readonly TextFile[]): Map<string, string[]> {
  const defined = new Map<string, string[]>();
  for (const { file, text } of files) {
    for (const number of promisesIn(text)) defined.set(number, [...(defined.get(number) ?? []), file]);
  }
  return defined;
}

export function spokenIn(text: string): string {
  return [...text.matchAll(SPOKEN)].map(([part]) => part).join('\n');
}

/** Ranges count as all their numbers: `XX1–XX3` and `XX1–3` are three. */
export function numbersIn(text: string): string[] {
  return [...text.matchAll(CITED)].flatMap(([, prefix = '', first = '', , last]) => {
    const count = last === undefined ? 1 : Number(last) - Number(first) + 1;
    return Array.from({ length: Math.max(1, count) }, (_, index) => `${prefix}${Number(first) + index}`);
  });
}
