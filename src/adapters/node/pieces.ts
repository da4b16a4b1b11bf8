/**
 * Runs the pieces of the bundle. A piece is a script instead of a module, because the engine can export a script's
 * compiled code. A start that finds the code of an earlier one saves a third of its processor time. The bundle contains
 * this file unchanged, next to its pieces.
 *
 *  PCE1 kept code is used only for the same text, engine and flags; otherwise the text is compiled
 *  PCE2 code is kept completely or not at all, and only in the program's folder if that is writable; damaged code is
 *       ignored, and a failure to keep it does not fail a start
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
/** The value of a script: see infra/pieces.mjs. */
type Body = (needed: readonly Exports[], load: typeof loaded, url: string, require: NodeJS.Require) => Promise<Exports>;

/** The first line of a piece, after `//`. */
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

/** For each entry, each kind of engine, and all flags in use. */
const MOST_FILES = 8;
const ALIGNED_BYTES = 8;

const require = createRequire(import.meta.url);
/** Pieces refer to this file as one of them. */
const running = new Map<string, Promise<Exports>>([['pieces.js', Promise.resolve({ keepCompiled })]]);
const scripts = new Map<string, { readonly id: string; readonly script: Script }>();
let file: string | undefined;
let kept = new Map<string, Compiled>();
let isSomethingNew = false;

/** @param entry  the name of a piece in the same folder */
export function run(entry: string): Promise<Exports> {
  file = pathOf(`../compiled/${entry.replace(/\.js$/, '')}-${cachedDataVersionTag()}`);
  kept = keptIn(file);
  return loaded(entry);
}

/** Called once after all code of a start has run; later code is not kept. It never fails. */
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
    // A failure is ignored (PCE2).
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
  // It is ASCII, which takes half of the memory as Latin-1.
  const text = readFileSync(filename, 'latin1');
  const { id, needs }: Head = JSON.parse(text.slice(2, text.indexOf('\n')));
  const needed: Exports[] = [];
  for (const one of needs) needed.push(await loaded(one));
  const body = compiled(name, id, text, filename).runInThisContext() as Body;
  return body(needed, loaded, import.meta.url, require);
}

/** Compiles a piece or uses its kept code (PCE1). The engine itself checks only the length of the text. */
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

/**
 * The file is the length of a head, the head, then the code of each piece. A file with another length than its head
 * says is ignored.
 */
function keptIn(path: string): Map<string, Compiled> {
  const found = new Map<string, Compiled>();
  try {
    const bytes = readFileSync(path);
    const headBytes = bytes.readUInt32LE(0);
    const rows = JSON.parse(bytes.toString('latin1', 4, 4 + headBytes)) as [string, string, number, string][];
    let at = aligned(4 + headBytes);
    for (const [name, id, length, digest] of rows) {
      const piece = bytes.subarray(at, at + length);
      // The engine does not check it, and damaged code would end the process.
      if (digestOf(piece) === digest) found.set(name, { id, bytes: piece });
      at += aligned(length);
    }
    return at === bytes.length ? found : new Map();
  } catch {
    return new Map();
  }
}

/** Writes the code to a draft and renames it (PCE2). */
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
      // Without it a power failure may leave the name with a part of the bytes.
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

/**
 * Removes old files and drafts of killed processes. A process that writes at this moment keeps no code, and its next
 * start does.
 */
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
