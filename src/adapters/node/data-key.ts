/**
 * The data key of encryption at rest: 32 random bytes from which each encrypted part derives a key. The file
 * `<data dir>/data.key` has a line for each master key (`MILLRACE_ENCRYPTION_KEY`) that opens it: the data key, sealed with
 * that master key. A rotation only changes these lines, so no data is written again.
 *
 *  DKY1 the file is made once, complete and private, also when two processes start at the same time
 *  DKY2 the file is replaced as a whole: a kill during a rotation leaves the old lines or the new ones
 *  DKY3 neither the data key nor a derived key is written to a file in clear
 */
import { hkdfSync } from 'node:crypto';
import { join } from 'node:path';
import { MillraceError, type Random } from '../../kernel/index.js';
import { makeFileOnce, PRIVATE_FILE, readFileIfThere, writeFileAtomic } from './files.js';
import { keyIdIn, sealingWith } from './sealing.js';

const DATA_KEY_FILE = 'data.key';
const KEY_BYTES = 32;
const HEX_DIGITS = 64;
/** Two during a rotation; more are never needed. */
const MOST_LINES = 8;

/** The encrypted parts. A name is part of the derivation, so it never changes. */
export type EncryptedPart = 'nats-server' | 'read models' | 'indexes' | 'credentials' | 'backups';

/** One sealed copy of a data key, with the id of the master key that opens it. */
interface SealedKey {
  readonly keyId: string;
  readonly line: string;
}

export class DataKey {
  readonly #key: Buffer;

  constructor(
    key: Uint8Array,
    private readonly random: Random,
  ) {
    this.#key = Buffer.from(key);
  }

  static make(random: Random): DataKey {
    return new DataKey(random.bytes(KEY_BYTES), random);
  }

  /** @param sealed a line of `sealedWith`. @throws INVALID if it was changed, BAD_CONFIG for another master key */
  static open(sealed: string, master: string, random: Random): DataKey {
    const key = Buffer.from(sealingWith(keyBytes(master), random).open(sealed), 'base64');
    if (key.length !== KEY_BYTES) throw new MillraceError('INVALID', 'not a sealed data key');
    return new DataKey(key, random);
  }

  /** The key of one part: another one for each part, so that no two of them encrypt with the same. */
  keyFor(part: EncryptedPart): Uint8Array {
    return new Uint8Array(hkdfSync('sha256', this.#key, new Uint8Array(0), `millrace ${part}`, KEY_BYTES));
  }

  sealedWith(master: string): string {
    return sealingWith(keyBytes(master), this.random).seal(this.#key.toString('base64'));
  }
}

/** The id of a master key, which does not reveal it. */
export function masterKeyId(master: string, random: Random): string {
  return sealingWith(keyBytes(master), random).keyId;
}

/** `data.key` of a data directory. */
export class DataKeyFile {
  readonly path: string;

  constructor(
    dataDir: string,
    private readonly random: Random,
  ) {
    this.path = join(dataDir, DATA_KEY_FILE);
  }

  /** Ids of the master keys that open it; undefined: there is no file. @throws BAD_CONFIG for other contents */
  async keyIds(): Promise<readonly string[] | undefined> {
    return (await this.#read())?.map(({ keyId }) => keyId);
  }

  /** @throws BAD_CONFIG when there is no file, or `master` does not open it */
  async open(master: string): Promise<DataKey> {
    const sealed = await this.#read();
    if (sealed === undefined)
      throw new MillraceError('BAD_CONFIG', `${this.path} does not exist: nothing is encrypted`);
    const id = masterKeyId(master, this.random);
    const own = sealed.find(({ keyId }) => keyId === id);
    if (own !== undefined) return this.#opened(own.line, master);
    const wanted = sealed.map(({ keyId }) => keyId).join(' or ');
    throw new MillraceError(
      'BAD_CONFIG',
      `MILLRACE_ENCRYPTION_KEY is key ${id}, and ${this.path} is sealed with key ${wanted}: give that key`,
    );
  }

  /** Opens the file, and makes it first if there is none (DKY1). @throws BAD_CONFIG */
  async openOrMake(master: string): Promise<DataKey> {
    if ((await this.#read()) === undefined) {
      await makeFileOnce(this.path, `${DataKey.make(this.random).sealedWith(master)}\n`, PRIVATE_FILE);
    }
    return this.open(master);
  }

  /** Seals the data key with `next` in addition. @returns the ids that open it now. @throws BAD_CONFIG */
  async addKey(master: string, next: string): Promise<readonly string[]> {
    const key = await this.open(master);
    const nextId = masterKeyId(next, this.random);
    const others = ((await this.#read()) ?? []).filter(({ keyId }) => keyId !== nextId);
    return this.#replace([...others.map(({ line }) => line), key.sealedWith(next)]);
  }

  /** Removes the lines of all other master keys. @returns the ids that open it now. @throws BAD_CONFIG */
  async keepOnly(master: string): Promise<readonly string[]> {
    const key = await this.open(master);
    return this.#replace([key.sealedWith(master)]);
  }

  async #replace(lines: readonly string[]): Promise<readonly string[]> {
    await writeFileAtomic(this.path, lines.map((line) => `${line}\n`).join(''), PRIVATE_FILE);
    return (await this.keyIds()) ?? [];
  }

  #opened(line: string, master: string): DataKey {
    try {
      return DataKey.open(line, master, this.random);
    } catch (cause) {
      throw new MillraceError('BAD_CONFIG', `${this.path} cannot be used`, {}, cause);
    }
  }

  async #read(): Promise<readonly SealedKey[] | undefined> {
    const found = await readFileIfThere(this.path);
    if (found === undefined) return undefined;
    const lines = found.toString('utf8').trim().split('\n');
    const sealed = lines.flatMap((line) => {
      const keyId = keyIdIn(line);
      return keyId === undefined ? [] : [{ keyId, line }];
    });
    if (sealed.length === lines.length && sealed.length <= MOST_LINES) return sealed;
    throw new MillraceError('BAD_CONFIG', `${this.path} cannot be used: it does not hold sealed data keys`);
  }
}

function keyBytes(master: string): Uint8Array {
  return Buffer.from(master, master.length === HEX_DIGITS ? 'hex' : 'base64');
}
