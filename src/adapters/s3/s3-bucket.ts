/**
 * The objects below one prefix of a bucket. Requests are repeated by the SDK, with growing pauses.
 *
 *  SBU1 only objects below the prefix are listed, read, written and deleted
 *  SBU2 an object is complete or does not exist: it is sent in one request, or in parts that one request joins
 *
 * A bucket with object lock keeps each object until its time is over, also against a delete with the same credentials.
 */
import { createHash } from 'node:crypto';
import {
  AbortMultipartUploadCommand,
  type CompletedPart,
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  DeleteObjectsCommand,
  GetObjectCommand,
  GetObjectLockConfigurationCommand,
  ListMultipartUploadsCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  S3Client,
  S3ServiceException,
  UploadPartCommand,
} from '@aws-sdk/client-s3';
import { describeError, MillraceError } from '../../kernel/index.js';

export interface S3Options {
  readonly bucket: string;
  /** Without slashes at its ends; '' is the whole bucket. */
  readonly prefix: string;
  /** Default: the service that the SDK knows for the region. */
  readonly endpoint: string | undefined;
  readonly region: string;
  /** Default: the SDK looks for credentials of the machine: variables, profiles, roles. */
  readonly credentials: { readonly accessKeyId: string; readonly secretAccessKey: string } | undefined;
  readonly lock: 'off' | 'governance' | 'compliance';
  /** The time for which a locked object is kept. */
  readonly lockMs: number;
}

/** The smallest part that all services accept is 5 MiB; two of them are in memory at a time. */
const PART_BYTES = 8 * 1024 * 1024;
const MAX_KEYS = 1000;
const ATTEMPTS = 4;
const CONNECT_MS = 5_000;
/** A part of 8 MiB over a slow line. */
const REQUEST_MS = 60_000;
/** Statuses of refused credentials and requests: a further attempt cannot help. */
const REFUSED = new Set([400, 401, 403, 404, 405, 501]);
/** A form that is refused below the prefix: it would leave it. */
const NAME = /^[A-Za-z0-9_-]+(\/[A-Za-z0-9_-]+)*(\.json)?$/;

export class S3Bucket {
  readonly label: string;
  readonly #client: S3Client;
  readonly #root: string;
  #isLocked: Promise<boolean> | undefined;

  constructor(private readonly options: S3Options) {
    const { bucket, prefix, endpoint, region, credentials } = options;
    this.label = `s3://${bucket}${prefix === '' ? '' : `/${prefix}`}`;
    this.#root = prefix === '' ? '' : `${prefix}/`;
    // The pinned release runs on Node.js 20; its warning is about later releases.
    process.env.AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED ??= 'true';
    this.#client = new S3Client({
      region,
      ...(endpoint !== undefined && { endpoint, forcePathStyle: true }),
      ...(credentials !== undefined && { credentials }),
      maxAttempts: ATTEMPTS,
      requestHandler: { connectionTimeout: CONNECT_MS, requestTimeout: REQUEST_MS, throwOnRequestTimeout: true },
      // Content-MD5 checks uploads at every service; the SDK's own checksums are unknown to some.
      requestChecksumCalculation: 'WHEN_REQUIRED',
      responseChecksumValidation: 'WHEN_REQUIRED',
    });
  }

  close(): void {
    this.#client.destroy();
  }

  /** True when the bucket has object lock, and the settings do not say otherwise. */
  isLocked(): Promise<boolean> {
    this.#isLocked ??= this.#findLock();
    return this.#isLocked;
  }

  async #findLock(): Promise<boolean> {
    if (this.options.lock === 'off') return false;
    try {
      const command = new GetObjectLockConfigurationCommand(this.#in());
      const { ObjectLockConfiguration: found } = await this.#client.send(command);
      return found?.ObjectLockEnabled === 'Enabled';
    } catch (error) {
      // A bucket without it answers 404, a service without it 501, and credentials may lack the right to ask.
      if (error instanceof S3ServiceException && REFUSED.has(error.$metadata.httpStatusCode ?? 0)) return false;
      this.#isLocked = undefined;
      throw this.#failure(error);
    }
  }

  /** Writes an object in one request, or in several if it is large (SBU2). */
  async put(name: string, pieces: AsyncIterable<Uint8Array>): Promise<void> {
    const parts = inParts(pieces)[Symbol.asyncIterator]();
    try {
      const first = await parts.next();
      const second = await parts.next();
      const body = first.done === true ? new Uint8Array(0) : first.value;
      if (second.done === true) await this.#putWhole(name, body);
      else await this.#putParts(name, [body, second.value], parts);
    } finally {
      await parts.return?.(undefined);
    }
  }

  async #putWhole(name: string, body: Uint8Array): Promise<void> {
    const lock = await this.#retention();
    const request = { ...this.#in(name), Body: body, ContentMD5: md5(body), ...lock };
    await this.#asked(() => this.#client.send(new PutObjectCommand(request)));
  }

  async #putParts(name: string, begun: readonly Uint8Array[], rest: AsyncIterator<Uint8Array>): Promise<void> {
    const lock = await this.#retention();
    const place = this.#in(name);
    const begin = new CreateMultipartUploadCommand({ ...place, ...lock });
    const { UploadId } = await this.#asked(() => this.#client.send(begin));
    const upload = { ...place, UploadId };
    try {
      const sent: CompletedPart[] = [];
      const send = async (body: Uint8Array) => {
        const part = { ...upload, PartNumber: sent.length + 1, Body: body, ContentMD5: md5(body) };
        const { ETag } = await this.#asked(() => this.#client.send(new UploadPartCommand(part)));
        sent.push({ ETag, PartNumber: part.PartNumber });
      };
      for (const body of begun) await send(body);
      for (let next = await rest.next(); next.done !== true; next = await rest.next()) await send(next.value);
      const end = new CompleteMultipartUploadCommand({ ...upload, MultipartUpload: { Parts: sent } });
      await this.#asked(() => this.#client.send(end));
    } catch (error) {
      // Parts of an upload that did not end are no object, but use space.
      await this.#client.send(new AbortMultipartUploadCommand(upload)).catch(() => undefined);
      throw error;
    }
  }

  /** Bytes from `offset` on, fewer at the end. Undefined when there is no such object. */
  async get(name: string, offset: number, bytes: number): Promise<Uint8Array | undefined> {
    const range = { ...this.#in(name), Range: `bytes=${offset}-${offset + bytes - 1}` };
    for (let attempt = 1; ; attempt += 1) {
      try {
        const { Body } = await this.#client.send(new GetObjectCommand(range));
        return (await Body?.transformToByteArray()) ?? new Uint8Array(0);
      } catch (error) {
        const status = error instanceof S3ServiceException ? error.$metadata.httpStatusCode : undefined;
        // The bucket itself may be missing.
        if (status === 404 && (error as Error).name !== 'NoSuchBucket') return undefined;
        if (status === 416) return new Uint8Array(0);
        // The SDK repeats requests, and not the reading of a body that ended early.
        if (status !== undefined || attempt === ATTEMPTS) throw this.#failure(error);
      }
    }
  }

  /** Names of the objects that begin with `prefix`, in order. */
  async *list(prefix: string): AsyncGenerator<string> {
    for await (const { Contents = [] } of this.#pages(prefix)) {
      for (const { Key = '' } of Contents) yield Key.slice(this.#root.length);
    }
  }

  /** The folders directly below the prefix, in order. */
  async folders(): Promise<readonly string[]> {
    const found: string[] = [];
    for await (const { CommonPrefixes = [] } of this.#pages('', '/')) {
      for (const { Prefix = '' } of CommonPrefixes) found.push(Prefix.slice(this.#root.length, -1));
    }
    return found;
  }

  async *#pages(prefix: string, Delimiter?: string) {
    let token: string | undefined;
    do {
      const page = { Bucket: this.options.bucket, Prefix: this.#root + prefix, MaxKeys: MAX_KEYS, Delimiter };
      const next = new ListObjectsV2Command({ ...page, ContinuationToken: token });
      const answer = await this.#asked(() => this.#client.send(next));
      yield answer;
      token = answer.IsTruncated === true ? answer.NextContinuationToken : undefined;
    } while (token !== undefined);
  }

  async delete(names: readonly string[]): Promise<void> {
    for (let at = 0; at < names.length; at += MAX_KEYS) {
      const Objects = names.slice(at, at + MAX_KEYS).map((name) => ({ Key: this.#in(name).Key }));
      const command = new DeleteObjectsCommand({ ...this.#in(), Delete: { Objects, Quiet: true } });
      const { Errors = [] } = await this.#asked(() => this.#client.send(command));
      const [first] = Errors;
      if (first !== undefined) throw this.#failure(new Error(`${first.Key} was not deleted: ${first.Message}`));
    }
  }

  /** Ends uploads below `prefix` that began before the instant and did not end; a service without the request has none. */
  async abortUploads(prefix: string, beforeMs: number): Promise<void> {
    const asked = new ListMultipartUploadsCommand({ ...this.#in(), Prefix: this.#root + prefix });
    const { Uploads = [] } = await this.#client.send(asked).catch(() => ({ Uploads: [] }));
    for (const { Key, UploadId, Initiated } of Uploads) {
      if (Key === undefined || UploadId === undefined || (Initiated?.getTime() ?? beforeMs) >= beforeMs) continue;
      const abort = new AbortMultipartUploadCommand({ ...this.#in(), Key, UploadId });
      await this.#asked(() => this.#client.send(abort));
    }
  }

  async #retention() {
    const { lock, lockMs } = this.options;
    if (lock === 'off' || !(await this.isLocked())) return {};
    const mode = lock === 'governance' ? 'GOVERNANCE' : 'COMPLIANCE';
    return { ObjectLockMode: mode, ObjectLockRetainUntilDate: new Date(Date.now() + lockMs) } as const;
  }

  #in(): { Bucket: string };
  #in(name: string): { Bucket: string; Key: string };
  #in(name?: string) {
    const { bucket: Bucket } = this.options;
    if (name === undefined) return { Bucket };
    if (!NAME.test(name)) throw new MillraceError('JOURNAL_DAMAGED', 'the backup names an invalid file', { name });
    return { Bucket, Key: this.#root + name };
  }

  async #asked<Answer>(ask: () => Promise<Answer>): Promise<Answer> {
    try {
      return await ask();
    } catch (error) {
      throw this.#failure(error);
    }
  }

  #failure(error: unknown): MillraceError {
    const name = error instanceof Error && error.name !== 'Error' ? `${error.name}: ` : '';
    const message = `${this.label}: ${name}${describeError(error)}`;
    const status = error instanceof S3ServiceException ? (error.$metadata.httpStatusCode ?? 0) : 0;
    return new MillraceError(REFUSED.has(status) ? 'BAD_CONFIG' : 'BACKUP_UNAVAILABLE', message, {}, error);
  }
}

/** Joins pieces to parts of one size; the last one may be smaller. */
async function* inParts(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let held: Uint8Array[] = [];
  let bytes = 0;
  for await (const piece of pieces) {
    held.push(piece);
    bytes += piece.length;
    if (bytes < PART_BYTES) continue;
    yield Buffer.concat(held);
    [held, bytes] = [[], 0];
  }
  if (bytes > 0) yield Buffer.concat(held);
}

function md5(body: Uint8Array): string {
  return createHash('md5').update(body).digest('base64');
}
