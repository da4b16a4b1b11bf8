/**
 * Looks for secrets where none may be: in texts, and in every file below a directory, in each spelling that a program
 * might have made of them by accident. A directory of files that nobody could have found anything in proves nothing, so
 * tests look for something that must be there, too.
 */
import { readdir, readFile } from 'node:fs/promises';
import { join, relative } from 'node:path';

/** Shorter ones are found by chance. */
const MIN_CHARACTERS = 12;
const BITS_OF_BASE64 = 6;

export class Canary {
  readonly #secrets = new Map<string, string>();

  /** @throws for a text that is found by chance */
  add(name: string, text: unknown): string {
    if (typeof text !== 'string' || text.length < MIN_CHARACTERS) throw new Error(`${name} is no secret: ${text}`);
    this.#secrets.set(name, text);
    return text;
  }

  get names(): readonly string[] {
    return [...this.#secrets.keys()];
  }

  /** @returns one line for each secret that is in the text */
  inText(where: string, text: string): string[] {
    return this.#in(where, Buffer.from(text));
  }

  /** @param except paths below the directory */
  async inFiles(directory: string, except: readonly string[] = []): Promise<string[]> {
    const found: string[] = [];
    for (const path of await filesBelow(directory)) {
      const name = relative(directory, path);
      if (!except.includes(name)) found.push(...this.#in(name, await readFile(path)));
    }
    return found;
  }

  #in(where: string, bytes: Buffer): string[] {
    const found: string[] = [];
    for (const [name, text] of this.#secrets) {
      const spelling = spellingsOf(text).find(([, spelled]) => bytes.includes(spelled));
      if (spelling !== undefined) found.push(`${name} is in ${where}, as ${spelling[0]}`);
    }
    return found;
  }
}

/** Files below a directory in which a text is found as it is. */
export async function filesWith(directory: string, text: string): Promise<string[]> {
  const found: string[] = [];
  for (const path of await filesBelow(directory)) {
    if ((await readFile(path)).includes(text)) found.push(relative(directory, path));
  }
  return found;
}

/** As it is, in hexadecimal, in a URL, in two bytes a character, and in base64 wherever in a text it begins. */
export function spellingsOf(secret: string): [string, Buffer][] {
  const bytes = Buffer.from(secret);
  const hex = bytes.toString('hex');
  const plain: [string, string | Buffer][] = [
    ['text', secret],
    ['hexadecimal', hex],
    ['hexadecimal', hex.toUpperCase()],
    ['URL', encodeURIComponent(secret)],
    ['JSON', JSON.stringify(secret).slice(1, -1)],
    ['UTF-16', Buffer.from(secret, 'utf16le')],
  ];
  for (const before of [0, 1, 2]) {
    const around = Buffer.concat([Buffer.alloc(before), bytes]);
    // Characters that hold bits of the secret alone.
    const first = Math.ceil((before * 8) / BITS_OF_BASE64);
    const last = Math.floor((around.length * 8) / BITS_OF_BASE64);
    plain.push(['base64', around.toString('base64').slice(first, last)]);
    plain.push(['base64url', around.toString('base64url').slice(first, last)]);
  }
  return plain.map(([name, spelled]) => [name, Buffer.from(spelled as string)]);
}

async function filesBelow(directory: string): Promise<string[]> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name));
}
