/**
 * The files of the built pages. Each is read on its first request, in the encoding that the client accepts, and then
 * cached.
 *
 *  CSF1 only files in the build's manifest are served: a path is looked up there and never opened
 *  CSF2 browsers cache a file with a content hash in its name for ever, and ask for the page each time
 */
import { createHash } from 'node:crypto';

/** Written by infra/built-files.mjs: each file's path and the compressed forms that exist. */
interface Manifest {
  readonly files: Readonly<Record<string, readonly ('br' | 'gzip')[]>>;
}

export interface ServedFile {
  readonly bytes: Buffer;
  readonly type: string;
  readonly encoding: 'br' | 'gzip' | undefined;
  readonly etag: string;
}

type Read = (path: string) => Promise<Buffer | undefined>;

const MANIFEST = 'manifest.json';
const SUFFIX = { br: '.br', gzip: '.gz' } as const;
const TYPES: Readonly<Record<string, string>> = {
  html: 'text/html; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  svg: 'image/svg+xml',
  png: 'image/png',
  json: 'application/json; charset=utf-8',
  txt: 'text/plain; charset=utf-8',
};

export class BuiltFiles {
  readonly #served = new Map<string, Promise<ServedFile | undefined>>();
  #manifest: Promise<Manifest> | undefined;

  constructor(private readonly read: Read) {}

  /** @param accepted the request's `Accept-Encoding` */
  async get(path: string, accepted = ''): Promise<ServedFile | undefined> {
    this.#manifest ??= this.#readManifest();
    const { files } = await this.#manifest;
    if (!Object.hasOwn(files, path)) return undefined;
    const encoding = files[path]?.find((form) => accepted.includes(form));
    const name = `${path}${encoding === undefined ? '' : SUFFIX[encoding]}`;
    let served = this.#served.get(name);
    if (served === undefined) {
      served = this.#load(path, name, encoding);
      this.#served.set(name, served);
    }
    return served;
  }

  async #load(path: string, name: string, encoding: ServedFile['encoding']): Promise<ServedFile | undefined> {
    const bytes = await this.read(name);
    if (bytes === undefined) return undefined;
    const type = TYPES[path.slice(path.lastIndexOf('.') + 1)] ?? 'application/octet-stream';
    const etag = `"${createHash('sha256').update(bytes).digest('base64url')}"`;
    return { bytes, type, encoding, etag };
  }

  /** A build without pages has no manifest and serves no file. */
  async #readManifest(): Promise<Manifest> {
    const bytes = await this.read(MANIFEST);
    return bytes === undefined ? { files: {} } : (JSON.parse(bytes.toString('utf8')) as Manifest);
  }
}
