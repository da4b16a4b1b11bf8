/**
 * A plugin of esbuild: names of a folder's `index.js` are imported from the files that declare them.
 *
 * esbuild puts into a chunk all files that its entries reach through imports, used or not. Through an index, a command that
 * uses one name of a folder would load the whole folder, and everything that its files import. The patterns match the form in
 * which tsc prints statements. A statement in any other form stays as it is, and is only slower.
 */
import { existsSync, readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';

/** Statements as tsc prints them: on one line. */
const IMPORT = /^import \{([^}]*)\} from '(\.[^']*\/index\.js)';$/gm;
const FROM = /^export (?:\{([^}]*)\}|(\*)) from '(\.[^']*)';$/gm;
const DECLARED = /^export (?:async )?(?:function\*?|class|const|let) (\w+)/gm;
const LISTED = /^export \{([^}]*)\};$/gm;

/** @param folder of the compiled program; files outside of it are left alone */
export function directImports(folder) {
  /** By file: the exported names, each with the file that declares it and its name there. */
  const known = new Map();

  function exportsOf(file) {
    const before = known.get(file);
    if (before !== undefined) return before;
    const found = new Map();
    known.set(file, found);
    if (!existsSync(file)) return found;
    const source = readFileSync(file, 'utf8');
    for (const [, name] of source.matchAll(DECLARED)) found.set(name, { file, name });
    for (const [, names] of source.matchAll(LISTED))
      for (const { outside } of namesOf(names)) found.set(outside, { file, name: outside });
    for (const [, names, , from] of source.matchAll(FROM)) {
      const there = exportsOf(join(dirname(file), from));
      if (names === undefined) for (const [name, place] of there) found.has(name) || found.set(name, place);
      else for (const { inside, outside } of namesOf(names)) there.has(inside) && found.set(outside, there.get(inside));
    }
    return found;
  }

  function direct(file, source) {
    return source.replace(IMPORT, (statement, names, from) => {
      const there = exportsOf(join(dirname(file), from));
      const byFile = new Map();
      for (const { inside, outside } of namesOf(names)) {
        const place = there.get(inside);
        if (place === undefined) return statement;
        byFile.set(place.file, [...(byFile.get(place.file) ?? []), `${place.name} as ${outside}`]);
      }
      return [...byFile].map(([place, list]) => `import { ${list} } from './${relative(dirname(file), place)}';`).join('');
    });
  }

  return {
    name: 'direct imports',
    setup({ onLoad }) {
      onLoad({ filter: /\.js$/ }, async ({ path }) =>
        path.startsWith(`${folder}/`) ? { contents: direct(path, await readFile(path, 'utf8')) } : undefined,
      );
    },
  };
}

/** `a, b as c` of a statement. */
function namesOf(list) {
  const names = list.split(',').map((name) => name.trim());
  return names.filter((name) => name !== '').map((name) => {
    const [inside, outside = inside] = name.split(' as ');
    return { inside, outside };
  });
}
