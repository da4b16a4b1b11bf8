/** The history of typed lines, stored by the browser for each database. */
import { hasSecret } from './judged-line.js';

const MAX_LINES = 300;

export function pastLines(id: string): readonly string[] {
  try {
    const kept: unknown = JSON.parse(localStorage.getItem(nameOf(id)) ?? '[]');
    return Array.isArray(kept) ? kept.filter((line) => typeof line === 'string') : [];
  } catch {
    return [];
  }
}

/** Adds a line, unless it repeats the last one or contains a secret. @returns the whole history */
export function keptLine(id: string, line: string): readonly string[] {
  const before = pastLines(id);
  if (hasSecret(line) || before.at(-1) === line) return before;
  const lines = [...before, line].slice(-MAX_LINES);
  try {
    localStorage.setItem(nameOf(id), JSON.stringify(lines));
  } catch {
    // Without browser storage, the line is kept until the user leaves the page.
  }
  return lines;
}

function nameOf(id: string): string {
  return `millrace-lines-${id}`;
}
