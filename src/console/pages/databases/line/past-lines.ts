/** Lines that were typed before, kept by this browser for each database. */
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

/** What repeats the last one, or has a secret in it, is left out. @returns all of them */
export function keptLine(id: string, line: string): readonly string[] {
  const before = pastLines(id);
  if (hasSecret(line) || before.at(-1) === line) return before;
  const lines = [...before, line].slice(-MAX_LINES);
  try {
    localStorage.setItem(nameOf(id), JSON.stringify(lines));
  } catch {
    // A browser that keeps nothing: the line is there until the page is left.
  }
  return lines;
}

function nameOf(id: string): string {
  return `millrace-lines-${id}`;
}
