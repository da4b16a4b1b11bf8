/**
 * Fetches the pinned official release archive of nats-server and keeps it only if its SHA-256 is the
 * pinned one. The archive is not opened before that.
 */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { mustHaveDigest, PINNED_RELEASES, PINNED_VERSION, type PinnedRelease, RELEASES_URL } from './pinned-files.js';
import { runOrThrow } from './run-bounded.js';
import { installServer } from './tools-dir.js';

/** The time limit of the whole download; the archive has about 7 MB. */
const DOWNLOAD_TIMEOUT_MS = 90_000;
const UNPACK_TIMEOUT_MS = 30_000;
/** Several times the archive's size: a larger answer is not the archive. */
const LARGEST_ARCHIVE_BYTES = 64 * 1024 * 1024;

export interface ReleaseOptions {
  /** Without a slash at the end; `/v<version>/<name>.tar.gz` is appended. */
  readonly url?: string;
  readonly version?: string;
  readonly platform?: string;
  readonly releases?: Readonly<Record<string, PinnedRelease>>;
  readonly timeoutMs?: number;
}

/**
 * @returns the path of the installed binary
 * @throws  an Error with a readable text
 */
export async function fetchRelease(toolsDir: string, options: ReleaseOptions = {}): Promise<string> {
  const version = options.version ?? PINNED_VERSION;
  const platform = options.platform ?? `${process.platform}-${process.arch}`;
  const release = (options.releases ?? PINNED_RELEASES)[platform];
  if (release === undefined) throw new Error(`no pinned SHA-256 for nats-server ${version} on ${platform}`);
  const url = `${options.url ?? RELEASES_URL}/v${version}/${release.name}.tar.gz`;
  const archive = await download(url, options.timeoutMs ?? DOWNLOAD_TIMEOUT_MS);
  mustHaveDigest(archive, release.sha256, url);
  return installServer(toolsDir, async (incoming) => {
    const [path, member] = [join(incoming, 'archive.tar.gz'), `${release.name}/nats-server`];
    await writeFile(path, archive);
    await runOrThrow('tar', ['-xzf', path, '-C', incoming, member], { timeoutMs: UNPACK_TIMEOUT_MS });
    return join(incoming, member);
  });
}

async function download(url: string, timeoutMs: number): Promise<Uint8Array> {
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(timeoutMs) });
    if (!response.ok) throw new Error(`status ${response.status}`);
    const parts: Uint8Array[] = [];
    let bytes = 0;
    for await (const part of response.body ?? []) {
      bytes += part.byteLength;
      if (bytes > LARGEST_ARCHIVE_BYTES) throw new Error(`more than ${LARGEST_ARCHIVE_BYTES} bytes`);
      parts.push(part);
    }
    return Buffer.concat(parts, bytes);
  } catch (error) {
    const { name, message, cause } = error as Error;
    if (name === 'TimeoutError') throw new Error(`${url}: no complete answer within ${timeoutMs} ms`);
    // The message of `fetch` is only "fetch failed"; the reason is in its cause.
    throw new Error(`${url}: ${cause instanceof Error ? cause.message : message}`);
  }
}
