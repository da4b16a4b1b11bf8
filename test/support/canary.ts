/**
 * Searches for secrets in texts and in all files of a directory, in each encoding that a program could have produced
 * by accident. A search without any hit proves little, so tests also search for a value that must be found.
 */
import { readdir, readFile } from 'node:fs/promises';
import { join, relative } from 'node:path';

/** The minimum length of a secret; a shorter one could match by chance. */
const MIN_CHARACTERS = 12;
const BITS_OF_BASE64 = 6;

export class Canary {
  readonly #secrets = new Map<string, string>();

  /** @throws if the text is so short that it could match by chance */
  add(name: string, text: unknown): string {
    if (typeof text !== 'string' || text.length < MIN_CHARACTERS) throw new Error(`${name} is no secret: ${text}`);
    this.#secrets.set(name, text);
    return text;
  }

  get names(): readonly string[] {
    return [...this.#secrets.keys()];
  }

  /** @returns one line for each secret in the text */
  inText(where: string, text: string): string[] {
    return this.#in(where, Buffer.from(text));
  }

  /** @param except paths relative to the directory */
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

/** The files of a directory that contain the text unchanged. */
export async function filesWith(directory: string, text: string): Promise<string[]> {
  const found: string[] = [];
  for (const path of await filesBelow(directory)) {
    if ((await readFile(path)).includes(text)) found.push(relative(directory, path));
  }
  return found;
}

/**
 * The encodings of a secret: unchanged, hexadecimal, URL-encoded, with two bytes per character, and base64 at any
 * offset.
 */
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
    // Only base64 characters that consist of bits of the secret are compared.
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
