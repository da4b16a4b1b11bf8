/**
 * Runs what the bundle consists of. A piece is a script, and no module, because the engine gives back what it has compiled
 * of a script: a start that finds what an earlier one has kept has next to nothing to compile, which is a third of its
 * processor time. The bundle has this file as it is, beside its pieces.
 *
 *  PCE1 what was kept is used for the text that it was made of, by an engine and under flags like those that made it; in
 *       all other cases the text is compiled
 *  PCE2 it is kept whole or not at all, and where the program's own folder may be written to: nowhere else does what is
 *       run lie. What was damaged is as good as not kept. Whether it is kept or not, a start goes on
 */
import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { open, rename, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { setImmediate as turnOfTheLoop } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { cachedDataVersionTag } from 'node:v8';
import { Script } from 'node:vm';

type Exports = Readonly<Record<string, unknown>>;
/** What a script comes to: see infra/pieces.mjs. */
type Body = (needed: readonly Exports[], load: typeof loaded, url: string, require: NodeJS.Require) => Promise<Exports>;

/** The first line of a piece, behind `//`. */
interface Head {
  /** A digest of the text. */
  readonly id: string;
  /** Pieces that are run before it. */
  readonly needs: readonly string[];
}

interface Compiled {
  readonly id: string;
  readonly bytes: Buffer;
}

/** One for each entry, each kind of engine, and all flags that the program is run under. */
const MOST_FILES = 8;
const ALIGNED_BYTES = 8;

const require = createRequire(import.meta.url);
/** Pieces know this file as one of them. */
const running = new Map<string, Promise<Exports>>([['pieces.js', Promise.resolve({ keepCompiled })]]);
const scripts = new Map<string, { readonly id: string; readonly script: Script }>();
let file: string | undefined;
let kept = new Map<string, Compiled>();
let isSomethingNew = false;

/** @param entry the name of a piece, which lies beside this file */
export function run(entry: string): Promise<Exports> {
  file = pathOf(`../compiled/${entry.replace(/\.js$/, '')}-${cachedDataVersionTag()}`);
  kept = keptIn(file);
  return loaded(entry);
}

/** Called once all that a start runs has run: of what is run later there is nothing to be kept yet. It never fails. */
export async function keepCompiled(): Promise<void> {
  if (file === undefined || !isSomethingNew) return;
  isSomethingNew = false;
  try {
    for (const [name, { id, script }] of scripts) {
      if (kept.has(name)) continue;
      kept.set(name, { id, bytes: script.createCachedData() });
      // The longest takes ten milliseconds.
      await turnOfTheLoop();
    }
    await write(file, kept);
  } catch {
    // PCE2.
  }
}

function loaded(name: string): Promise<Exports> {
  const known = running.get(name);
  if (known !== undefined) return known;
  const begun = begin(name);
  running.set(name, begun);
  return begun;
}

async function begin(name: string): Promise<Exports> {
  const filename = pathOf(name);
  // It is ASCII, and stays in half of the memory.
  const text = readFileSync(filename, 'latin1');
  const { id, needs }: Head = JSON.parse(text.slice(2, text.indexOf('\n')));
  const needed: Exports[] = [];
  for (const one of needs) needed.push(await loaded(one));
  const body = compiled(name, id, text, filename).runInThisContext() as Body;
  return body(needed, loaded, import.meta.url, require);
}

/** PCE1. The engine itself looks no further than at the length of the text. */
function compiled(name: string, id: string, text: string, filename: string): Script {
  const found = kept.get(name);
  const script = new Script(text, found?.id === id ? { filename, cachedData: found.bytes } : { filename });
  if (script.cachedDataRejected !== false) {
    kept.delete(name);
    isSomethingNew = true;
  }
  scripts.set(name, { id, script });
  return script;
}

/** The length of a head, the head, then what there is of each piece. What is not as long as its head says is of no use. */
function keptIn(path: string): Map<string, Compiled> {
  const found = new Map<string, Compiled>();
  try {
    const bytes = readFileSync(path);
    const headBytes = bytes.readUInt32LE(0);
    const rows = JSON.parse(bytes.toString('latin1', 4, 4 + headBytes)) as [string, string, number, string][];
    let at = aligned(4 + headBytes);
    for (const [name, id, length, digest] of rows) {
      const piece = bytes.subarray(at, at + length);
      // The engine does not look, and damaged code ends the process.
      if (digestOf(piece) === digest) found.set(name, { id, bytes: piece });
      at += aligned(length);
    }
    return at === bytes.length ? found : new Map();
  } catch {
    return new Map();
  }
}

/** PCE2. */
async function write(path: string, pieces: ReadonlyMap<string, Compiled>): Promise<void> {
  const folder = pathOf('../compiled/');
  mkdirSync(folder, { recursive: true });
  const rows = Array.from(pieces, ([name, { id, bytes }]) => [name, id, bytes.length, digestOf(bytes)]);
  const head = Buffer.from(`....${JSON.stringify(rows)}`, 'latin1');
  head.writeUInt32LE(head.length - 4);
  const parts = [head, ...Array.from(pieces.values(), ({ bytes }) => bytes)];
  const draft = `${path}.${process.pid}`;
  try {
    const output = await open(draft, 'wx', 0o644);
    try {
      for (const part of parts) await output.writeFile(Buffer.concat([part], aligned(part.length)));
      // A power failure may not leave the name and half of the bytes.
      await output.sync();
    } finally {
      await output.close();
    }
    await rename(draft, path);
  } catch (error) {
    await rm(draft, { force: true });
    throw error;
  }
  removeOld(folder);
}

/** With drafts of those who were killed. Who writes one at this moment keeps nothing, and the next start does. */
function removeOld(folder: string): void {
  const files = readdirSync(folder).map((name) => {
    const path = `${folder}${name}`;
    return { path, atMs: name.includes('.') ? 0 : statSync(path).mtimeMs };
  });
  files.sort((one, other) => other.atMs - one.atMs);
  for (const [at, { path, atMs }] of files.entries()) if (at >= MOST_FILES || atMs === 0) rmSync(path, { force: true });
}

function digestOf(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}

function aligned(length: number): number {
  return Math.ceil(length / ALIGNED_BYTES) * ALIGNED_BYTES;
}

function pathOf(name: string): string {
  return fileURLToPath(new URL(name, import.meta.url));
}
