/**
 * Finds exports without an importer by their names alone. A name that is in no other file is unused, as is a name
 * that a folder's index exports and no file outside of the folder has. Types are left out, because exports of their
 * file have them in their signatures.
 */
import { dirname } from 'node:path';

const WORD = /[A-Za-z_$][\w$]*/g;
const DECLARED = /^export (?:abstract )?(?:async )?(?:const|let|class|enum|function\*?) ([A-Za-z_$][\w$]*)/gm;
/** Matches the exported form of each name in a list. */
const LAST_WORD = /[\w$]+(?=\s*(?:,|$))/g;
const PASSED_ON = /^export (?:type )?\{([^}]*)\} from/gm;

/** @param texts the texts of all files, by path. @returns `path name` of unused exports of `files` */
export function unusedExports(texts: ReadonlyMap<string, string>, files: readonly string[]): string[] {
  const exported = files.flatMap((file) => {
    const text = texts.get(file) ?? '';
    const declared = [...text.matchAll(DECLARED)].map(([, name = '']) => ({ file, name, near: file }));
    const passedOn = [...text.matchAll(PASSED_ON)].flatMap(([, list = '']) =>
      [...list.matchAll(LAST_WORD)].map(([name]) => ({ file, name, near: `${dirname(file)}/` })),
    );
    return [...declared, ...passedOn];
  });
  const filesByName = new Map(exported.map(({ name }) => [name, new Set<string>()]));
  for (const [file, text] of texts) for (const [word] of text.matchAll(WORD)) filesByName.get(word)?.add(file);
  return exported
    .filter(({ name, near }) => [...(filesByName.get(name) ?? [])].every((file) => file.startsWith(near)))
    .map(({ file, name }) => `${file} ${name}`);
}
