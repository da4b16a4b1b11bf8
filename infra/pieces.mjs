/**
 * Makes scripts of the modules that esbuild writes, for what runs them (src/adapters/node/pieces.ts): a line that says what
 * a script needs, and a function that is given it. What a module imports becomes constants, as it is once that has run: no
 * name may be exported that changes afterwards.
 */
import { createHash } from 'node:crypto';
import { builtinModules } from 'node:module';

/** What a module knows of itself, a script is told. */
export const DEFINED = { 'import.meta.url': '__url' };

/** `import{a as b}from"./x.js";`, or without names. esbuild writes them before all else. */
const IMPORT = /^\s*import(?:\{([^}]*)\}from)?"\.\/([\w.-]+)";/;
const EXPORT = /export\{([^}]*)\};\s*$/;
/** It loads its WebAssembly from beside itself. */
export const OUTSIDE = ['node-sqlite3-wasm'];
/** It runs the pieces, and is none. */
const RUNNER = /\/pieces\.js$/;

/** Has what is no piece, Node's own modules above all, asked for by `require`: names of it that nobody wants are left out. */
export const namesOfOthers = {
  name: 'names of others',
  setup({ onLoad, onResolve }) {
    onResolve({ filter: RUNNER }, () => ({ path: './pieces.js', external: true }));
    onResolve({ filter: /^[\w:/-]+$/ }, ({ path, kind }) => {
      const isBuiltin = path.startsWith('node:') || builtinModules.includes(path);
      if (!isImport(kind) || !(isBuiltin || OUTSIDE.includes(path))) return undefined;
      const known = isBuiltin ? `node:${path.replace(/^node:/, '')}` : path;
      return { path: known, namespace: 'others', sideEffects: false };
    });
    onLoad({ filter: /./, namespace: 'others' }, async ({ path }) => {
      const names = OUTSIDE.includes(path) ? [] : Object.keys(await import(path)).filter((name) => name !== 'default');
      const each = names.map((name) => `export const ${name} = /* @__PURE__ */ of('${name}');`);
      const all = [`const other = /* @__PURE__ */ require('${path}');`, 'const of = (name) => other[name];'];
      return { contents: [...all, 'export default other;', ...each].join('\n') };
    });
  },
};

/**
 * @param {string} text of a module
 * @param {object} output what esbuild says of it
 * @throws where it imports what is no piece, or otherwise than was expected
 */
export function pieceOf(text, { imports }) {
  const needs = [];
  const heads = [];
  let rest = text;
  for (let found = IMPORT.exec(rest); found !== null; found = IMPORT.exec(rest)) {
    const [statement, names, from] = found;
    if (names !== undefined) heads.push(`const{${pairsIn(names).map(([name, as]) => `${name}:${as}`)}}=__needed[${needs.length}];`);
    needs.push(from);
    rest = rest.slice(statement.length);
  }
  const [exporting, exported = ''] = EXPORT.exec(rest) ?? [''];
  let body = rest.slice(0, rest.length - exporting.length);
  const later = imports.filter(({ kind }) => kind === 'dynamic-import').map(({ path }) => path.slice(path.lastIndexOf('/') + 1));
  for (const name of later) body = body.replaceAll(`import("./${name}")`, `__load("${name}")`);
  const wanted = imports.filter(({ kind }) => kind === 'import-statement').map(({ path }) => path.slice(path.lastIndexOf('/') + 1));
  if (`${needs}` !== `${wanted}`) throw new Error(`a piece imports ${wanted}, and in its text was found ${needs}`);
  // A package that another one asks for by `require` is run when it does: until then its names stand for nothing.
  const late = pairsIn(exported).find(([name]) => name.startsWith('init_'));
  if (late !== undefined) throw new Error(`a piece takes from another what is made later, by ${late[0]}`);
  const outcome = pairsIn(exported).map(([name, as]) => `${as}:${name}`);
  const script = `(async(__needed,__load,__url,require)=>{'use strict';${heads.join('')}${body}\nreturn{${outcome}}})`;
  const id = createHash('sha256').update(script).digest('hex').slice(0, 32);
  return `//${JSON.stringify({ id, needs })}\n${script}\n`;
}

/** A module that a program or a thread begins with. */
export function stubOf(piece) {
  return `import{run}from"./pieces.js";await run("${piece}");\n`;
}

function isImport(kind) {
  return kind === 'import-statement' || kind === 'dynamic-import';
}

/** `a,b as c` */
function pairsIn(names) {
  return names
    .split(',')
    .map((each) => each.trim())
    .filter((each) => each !== '')
    .map((each) => {
      const [name, as = name] = each.split(/\s+as\s+/);
      return [name, as];
    });
}
