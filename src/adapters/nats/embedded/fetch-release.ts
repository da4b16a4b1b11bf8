/**
 * Fetches the pinned official release archive of nats-server and keeps it only if its SHA-256 is the
 * pinned one. The archive is not opened before that.
 */
import { createHash } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { PINNED_RELEASES, PINNED_VERSION, type PinnedRelease, RELEASES_URL } from './pinned-releases.js';
import { runOrThrow } from './run-bounded.js';
import { readServerVersion } from './server-version.js';
import { installServer, withIncoming } from './tools-dir.js';

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
  const sha256 = createHash('sha256').update(archive).digest('hex');
  if (sha256 !== release.sha256) throw new Error(`${url} has SHA-256 ${sha256}, not the pinned ${release.sha256}`);
  return withIncoming(toolsDir, async (incoming) => {
    const archivePath = join(incoming, 'archive.tar.gz');
    const member = `${release.name}/nats-server`;
    await writeFile(archivePath, archive);
    await runOrThrow('tar', ['-xzf', archivePath, '-C', incoming, member], { timeoutMs: UNPACK_TIMEOUT_MS });
    const binary = join(incoming, member);
    return installServer(toolsDir, incoming, binary, await readServerVersion(binary));
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
    throw new Error(`${url}: ${reasonOf(error, timeoutMs)}`);
  }
}

/** The message of `fetch` is only "fetch failed"; the reason is in its cause. */
function reasonOf(error: unknown, timeoutMs: number): string {
  if (!(error instanceof Error)) return String(error);
  if (error.name === 'TimeoutError') return `no complete answer within ${timeoutMs} ms`;
  return error.cause instanceof Error ? error.cause.message : error.message;
}
