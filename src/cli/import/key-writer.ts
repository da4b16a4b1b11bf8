/**
 * Writes keys to the destination.
 *
 *  KYW1 an existing key is kept unless replacement was requested; one with the same value counts as unchanged, so an
 *       interrupted import can be repeated from any point
 *  KYW2 a key that the destination refuses is listed with the reason, and the next key follows
 *  KYW3 a value too large for one command is written by several, and deleted again if one of them fails
 */
import { KeyspaceDigest, MAX_RECORD_BYTES } from '../../domain/kv/index.js';
import { type ByteString, MillraceError } from '../../kernel/index.js';
import type { ImportReport } from './import-report.js';
import type { PayloadReader } from './payload-reader.js';
import { type ClientReply, ReplyError } from './reply-reader.js';
import type { RespLink } from './resp-link.js';
import type { SourceKey } from './source.js';

/** Far below a database's limit for a command; larger values are written by several. */
const LARGE_PAYLOAD_BYTES = 1024 * 1024;
const PIPELINE_BYTES = 1024 * 1024;
const MODULE_FORM = '\x07';

export interface WriterOptions {
  readonly replaces: boolean;
  nowMs(): number;
}

export class KeyWriter {
  constructor(
    private readonly link: RespLink,
    private readonly payloads: PayloadReader,
    private readonly report: ImportReport,
    private readonly options: WriterOptions,
  ) {}

  /** @throws Error if the connection is lost */
  async write(keys: readonly SourceKey[]): Promise<void> {
    const { report, options } = this;
    const nowMs = options.nowMs();
    const small: RestorableKey[] = [];
    const large: RestorableKey[] = [];
    for (const key of keys) {
      const { payload } = key;
      if (key.expireAtMs !== undefined && key.expireAtMs <= nowMs) report.counts.expired += 1;
      else if (!isRestorable(key)) report.leaveKey(key.name, tooLarge(key.bytes));
      else (payload !== undefined && payload.length > LARGE_PAYLOAD_BYTES ? large : small).push(key);
    }
    const replies = await this.link.all(small.map((key) => this.#restoring(key)));
    for (const [index, reply] of replies.entries()) await this.#settle(small[index] as RestorableKey, reply);
    for (const key of large) await this.#writeInParts(key);
  }

  /** Writes a library of functions. */
  async writeLibrary(source: ByteString): Promise<void> {
    const { link, report } = this;
    const replaces = this.options.replaces ? ['REPLACE'] : [];
    const reply = await link.one(['FUNCTION', 'LOAD', ...replaces, source]);
    if (!(reply instanceof ReplyError)) report.counts.taken += 1;
    else if (holds(await link.one(['FUNCTION', 'LIST', 'WITHCODE']), source)) report.counts.unchanged += 1;
    else report.leave(`library of functions ${firstLine(source)}`, reply.text);
  }

  #restoring({ name, payload, expireAtMs, idleSeconds, frequency }: RestorableKey): ByteString[] {
    const words = ['RESTORE', name, String(expireAtMs ?? 0), payload, 'ABSTTL'];
    if (this.options.replaces) words.push('REPLACE');
    if (idleSeconds !== undefined) words.push('IDLETIME', String(idleSeconds));
    else if (frequency !== undefined) words.push('FREQ', String(frequency));
    return words;
  }

  async #settle(key: RestorableKey, reply: ClientReply): Promise<void> {
    if (!(reply instanceof ReplyError)) this.report.counts.taken += 1;
    else if (reply.text.startsWith('BUSYKEY')) await this.#compareTaken(key);
    else this.report.leaveKey(key.name, key.payload.startsWith(MODULE_FORM) ? ofModule(reply.text) : reply.text);
  }

  async #compareTaken(key: RestorableKey): Promise<void> {
    const [payload, expireAtMs] = await this.link.all(lookingAt(key.name));
    const isSame =
      typeof payload === 'string' && this.#digestOf(key) === this.#digestOf(found(key.name, payload, expireAtMs));
    if (isSame) this.report.counts.unchanged += 1;
    else this.report.leaveKey(key.name, 'exists with another value; --replace overwrites it');
  }

  #digestOf({ name, payload, expireAtMs }: RestorableKey): string {
    const digest = new KeyspaceDigest();
    this.payloads.digest([digest], name, payload, expireAtMs);
    return digest.toString();
  }

  /** Writes a large value by several commands (KYW3: it is deleted again if one of them fails). */
  async #writeInParts(key: RestorableKey): Promise<void> {
    const { link, report, options } = this;
    const { name, payload, expireAtMs } = key;
    if (!options.replaces && (await link.one(['EXISTS', name])) !== 0) return this.#compareTaken(key);
    try {
      let bytes = 0;
      let commands: ByteString[][] = [['DEL', name]];
      for (const words of this.payloads.commands(name, payload, expireAtMs)) {
        commands.push(words);
        for (const word of words) bytes += word.length;
        if (bytes < PIPELINE_BYTES) continue;
        await this.#mustAll(commands);
        commands = [];
        bytes = 0;
      }
      await this.#mustAll(commands);
      report.counts.taken += 1;
    } catch (error) {
      if (link.hasEnded) throw error;
      await link.one(['DEL', name]);
      report.leaveKey(name, (error as Error).message);
    }
  }

  async #mustAll(commands: readonly (readonly ByteString[])[]): Promise<void> {
    const refused = (await this.link.all(commands)).find((reply) => reply instanceof ReplyError);
    if (refused instanceof ReplyError) throw new MillraceError('CONFLICT', refused.text);
  }
}

type RestorableKey = SourceKey & { readonly payload: ByteString };

export function isRestorable(key: SourceKey): key is RestorableKey {
  return key.payload !== undefined;
}

/** The commands that read a key for comparison. */
export function lookingAt(name: ByteString): ByteString[][] {
  return [
    ['DUMP', name],
    ['PEXPIRETIME', name],
  ];
}

/** Converts their replies to a key. */
export function found(name: ByteString, payload: ByteString, expireAtMs: ClientReply | undefined): RestorableKey {
  const isSet = typeof expireAtMs === 'number' && expireAtMs > 0;
  return { name, payload, bytes: payload.length, expireAtMs: isSet ? expireAtMs : undefined };
}

function tooLarge(bytes: number): string {
  return `has ${bytes} bytes, and values have at most ${MAX_RECORD_BYTES}`;
}

function ofModule(refusal: string): string {
  return `belongs to an unsupported module (${refusal})`;
}

function holds(reply: ClientReply, text: ByteString): boolean {
  return Array.isArray(reply) ? reply.some((item: ClientReply) => holds(item, text)) : reply === text;
}

function firstLine(source: ByteString): string {
  return source.split('\n', 1)[0] as string;
}
