/**
 * Has each of our compiled files import names from the files that define them, past the `index.js` of their folders. A
 * bundle that is split puts a file into the piece of whoever imports it, wanted or not; past those faces that is who wants it.
 */
import { readFile } from 'node:fs/promises';
import { dirname, relative, resolve } from 'node:path';

const FROM_A_FACE = /^(import|export) \{([^}]*)\} from '(\.[^']*\/index\.js)';$/gm;
const DEFINED = /^export (?:async )?(?:class|const|let|function\*?) ([\w$]+)/gm;
const PASSED_ON = /^export (?:\{([^}]*)\}|\*) from '(\.[^']+)';$/gm;

/** What a face exports, by file, as far as it was asked for. */
const facesByPath = new Map();

/** A plugin of esbuild. @param folder of the compiled files */
export function pastTheFaces(folder) {
  return {
    name: 'past the faces',
    setup({ onLoad }) {
      onLoad({ filter: /\.js$/ }, async ({ path }) => {
        if (!path.startsWith(`${folder}/`)) return undefined;
        return { contents: await rewritten(await readFile(path, 'utf8'), dirname(path)) };
      });
    },
  };
}

async function rewritten(text, folder) {
  const faces = [...text.matchAll(FROM_A_FACE)].map(([, , , from]) => resolve(folder, from));
  const homes = new Map(await Promise.all(faces.map(async (face) => [face, await homesOf(face)])));
  return text.replaceAll(FROM_A_FACE, (_, verb, names, from) => {
    const face = resolve(folder, from);
    return pairsIn(names)
      .map(([name, as]) => {
        // What a face has from a package, it has.
        const { file, name: there } = homes.get(face).get(name) ?? { file: face, name };
        return `${verb} { ${there} as ${as} } from '${specifier(folder, file)}';`;
      })
      .join(' ');
  });
}

/** @returns by each name that a file exports: the file that defines it, and its name there */
function homesOf(path) {
  if (!facesByPath.has(path)) facesByPath.set(path, findHomes(path));
  return facesByPath.get(path);
}

async function findHomes(path) {
  const text = await readFile(path, 'utf8');
  const homes = new Map([...text.matchAll(DEFINED)].map(([, name]) => [name, { file: path, name }]));
  for (const [, names, from] of text.matchAll(PASSED_ON)) {
    const inner = await homesOf(resolve(dirname(path), from));
    const pairs = names === undefined ? [...inner.keys()].map((name) => [name, name]) : pairsIn(names);
    for (const [name, as] of pairs) homes.set(as, inner.get(name) ?? { file: resolve(dirname(path), from), name });
  }
  return homes;
}

/** `a, b as c` */
function pairsIn(names) {
  return names
    .split(',')
    .map((each) => each.trim())
    .filter((each) => each !== '')
    .map((each) => {
      const [name, as = name] = each.split(' as ');
      return [name, as];
    });
}

function specifier(folder, file) {
  const path = relative(folder, file);
  return path.startsWith('.') ? path : `./${path}`;
}
