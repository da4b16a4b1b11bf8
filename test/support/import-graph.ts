/**
 * Which files of `src` import which, read from their text, and the circles among them.
 *
 *  - By value: what is loaded. `import type` and `export type` are gone when the program runs; a list in braces in which
 *    every name is a type is not, because the compiler keeps such an import for what it does when it is loaded.
 *  - By type: what has to be understood together. That counts every import.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';

export interface Import {
  /** Below `src`, as `target`. */
  readonly file: string;
  readonly specifier: string;
  /** Undefined: not a file of ours. */
  readonly target: string | undefined;
  readonly isOfType: boolean;
}

const SRC = resolve('src');
const IMPORT = /^[ \t]*(?:import|export)\b(\s+type\b)?(?:[^;'"]*?\sfrom)?\s*'([^']+)'|\bimport\('([^']+)'\)/gm;

/** The sources below `src`. */
export function sources(folder = SRC): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return sources(path);
    return /\.tsx?$/.test(entry.name) && !entry.name.endsWith('.d.ts') ? [relative(SRC, path)] : [];
  });
}

export function textOf(file: string): string {
  return readFileSync(join(SRC, file), 'utf8');
}

export function importsOf(file: string): Import[] {
  return importsIn(file, textOf(file));
}

export function importsIn(file: string, text: string): Import[] {
  return [...text.matchAll(IMPORT)].map(([, type, stated, dynamic]) => {
    const specifier = stated ?? dynamic ?? '';
    const path = specifier.startsWith('.') ? relative(SRC, resolve(SRC, dirname(file), specifier)) : undefined;
    return { file, specifier, target: path && sourceOf(path), isOfType: type !== undefined };
  });
}

/** What a path in an import stands for: the console's pages are `.tsx`. */
function sourceOf(path: string): string {
  const isPage = path.startsWith('console/') && existsSync(join(SRC, path.replace(/\.js$/, '.tsx')));
  return path.replace(/\.js$/, isPage ? '.tsx' : '.ts');
}

/** @returns every group of files of which each reaches each other one (Tarjan's components), its files in order */
export function circles(imports: readonly Import[]): string[][] {
  const targets = new Map<string, string[]>();
  for (const { file, target } of imports) {
    if (target !== undefined) targets.set(file, [...(targets.get(file) ?? []), target]);
  }
  const numbers = new Map<string, number>();
  const path: string[] = [];
  const found: string[][] = [];
  const visit = (file: string): number => {
    const number = numbers.size;
    numbers.set(file, number);
    path.push(file);
    let low = number;
    for (const target of targets.get(file) ?? []) {
      const known = numbers.get(target);
      if (known === undefined) low = Math.min(low, visit(target));
      else if (path.includes(target)) low = Math.min(low, known);
    }
    if (low === number) {
      const members = path.splice(path.indexOf(file));
      if (members.length > 1 || targets.get(file)?.includes(file)) found.push(members.sort());
    }
    return low;
  };
  for (const file of targets.keys()) if (!numbers.has(file)) visit(file);
  return found;
}

/** @returns the rooms of which each imports the other, imports of types included */
export function mutualPairs(imports: readonly Import[], roomOf: (file: string) => string): string[] {
  const edges = new Set<string>();
  for (const { file, target } of imports) if (target !== undefined) edges.add(`${roomOf(file)} ${roomOf(target)}`);
  return [...edges].flatMap((edge) => {
    const [from = '', to = ''] = edge.split(' ');
    return from < to && edges.has(`${to} ${from}`) ? [`${from} and ${to}`] : [];
  });
}
