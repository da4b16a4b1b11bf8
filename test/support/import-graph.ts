/**
 * The imports between the files of `src`, read from their text, and the cycles among them.
 *
 *  - By value: files that are loaded. `import type` and `export type` do not exist at run time. An import of a list in
 *    which every name is a type still does, because the compiler keeps it for its side effects.
 *  - By type: files that are read together. Every import counts.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';

export interface Import {
  /** A path relative to `src`, as `target` is. */
  readonly file: string;
  readonly specifier: string;
  /** Undefined if the import is not a file of the project. */
  readonly target: string | undefined;
  readonly isOfType: boolean;
}

const SRC = resolve('src');
const IMPORT = /^[ \t]*(?:import|export)\b(\s+type\b)?(?:[^;'"]*?\sfrom)?\s*'([^']+)'|\bimport\('([^']+)'\)/gm;

/** The source files below `src`. */
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

/** The source file of an imported path; the console's pages are `.tsx`. */
function sourceOf(path: string): string {
  const isPage = path.startsWith('console/') && existsSync(join(SRC, path.replace(/\.js$/, '.tsx')));
  return path.replace(/\.js$/, isPage ? '.tsx' : '.ts');
}

/**
 * @returns the cycles: groups of files each of which reaches every other one (Tarjan's components), with sorted files
 */
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

/** @returns pairs of folders that import each other, imports of types included */
export function mutualPairs(imports: readonly Import[], roomOf: (file: string) => string): string[] {
  const edges = new Set<string>();
  for (const { file, target } of imports) if (target !== undefined) edges.add(`${roomOf(file)} ${roomOf(target)}`);
  return [...edges].flatMap((edge) => {
    const [from = '', to = ''] = edge.split(' ');
    return from < to && edges.has(`${to} ${from}`) ? [`${from} and ${to}`] : [];
  });
}
