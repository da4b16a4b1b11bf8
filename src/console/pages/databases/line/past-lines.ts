/** The history of typed lines, stored by the browser for each database. */
import { isTexts, readStored, writeStored } from '../../../api/stored.js';
import { hasSecret } from './judged-line.js';

const MAX_LINES = 300;

export function pastLines(id: string): readonly string[] {
  return readStored(nameOf(id), isTexts) ?? [];
}

/** Adds a line, unless it repeats the last one or contains a secret. @returns the whole history */
export function keptLine(id: string, line: string): readonly string[] {
  const before = pastLines(id);
  if (hasSecret(line) || before.at(-1) === line) return before;
  const lines = [...before, line].slice(-MAX_LINES);
  writeStored(nameOf(id), lines);
  return lines;
}

function nameOf(id: string): string {
  return `millrace-lines-${id}`;
}
