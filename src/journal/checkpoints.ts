/**
 * Checkpoints: signed statements about the end of every shard's journal, for an operator to keep elsewhere. A journal
 * that is shorter than its checkpoint, or different, was altered, even by the operator of its server.
 *
 * A file is JSON: `{ "format": "millrace-checkpoint-1", "statement": { … }, "publicKey": …, "signature": … }`. The
 * signed bytes are the format's name, a line feed, and the statement as JSON without blanks, its fields in the order of
 * the file. Key and signature are Ed25519, base64 (the key as SubjectPublicKeyInfo, DER). Hashes are SHA-256, hex.
 *
 *  CHK1 the stated journal was read and checked link by link from a snapshot on
 *  CHK2 a statement with one changed character has no valid signature; the fingerprint identifies the key
 */
import { createHash, createPublicKey, type KeyObject, sign, verify } from 'node:crypto';
import { MillraceError, type PartitionName, type ShardName } from '../kernel/index.js';
import type { AuditPorts } from './audit.js';
import { chainAfter, readEntries } from './entry-reader.js';
import { SnapshotStore } from './snapshot-store.js';

export interface ShardCheckpoint {
  readonly shard: ShardName;
  /** When its stream was made. */
  readonly createdAt: string;
  /** The number of the last entry, its position and its hash; 0, 0 and zeros for an empty journal. */
  readonly number: number;
  readonly position: number;
  readonly hash: string;
  readonly epoch: number;
  /** When the entry was made, by its owner's clock, in ISO 8601. */
  readonly time: string;
  /** In order of name. */
  readonly partitions: readonly { readonly name: PartitionName; readonly index: number; readonly hash: string }[];
}

export interface CheckpointStatement {
  readonly clusterId: string;
  /** ISO 8601. */
  readonly takenAt: string;
  readonly shards: readonly ShardCheckpoint[];
}

export interface ReadCheckpoint {
  readonly statement: CheckpointStatement;
  readonly fingerprint: string;
}

const FORMAT = 'millrace-checkpoint-1';
/** Hex digits of the public key's SHA-256 that name it: enough to prevent a second key with the same name. */
const FINGERPRINT_DIGITS = 32;

/** @throws JOURNAL_DAMAGED when the journal has a fault after its newest snapshot; JOURNAL_UNAVAILABLE */
export async function checkpointOf(ports: AuditPorts, shard: ShardName): Promise<ShardCheckpoint> {
  const stored = await new SnapshotStore(ports.objects, ports.log).newest(shard);
  const { first, last, createdAt } = await ports.journal.tail(shard);
  const chain = chainAfter(shard, stored?.manifest);
  const from = chain.head.position + 1;
  if (first > from || last < from - 1) {
    const message = `${shard}: the journal does not follow its newest snapshot`;
    throw new MillraceError('JOURNAL_DAMAGED', message, { shard, needed: from, first, last });
  }
  for await (const _ of readEntries(ports.journal, chain, from, last));
  const { number, position, hash, epoch, clockMs } = chain.head;
  const partitions = [...chain.sections()]
    .map(([name, link]) => ({ name, index: link.number, hash: hex(link.hash) }))
    .sort((a, b) => (a.name < b.name ? -1 : 1));
  return {
    shard,
    createdAt,
    number,
    position,
    hash: hex(hash),
    epoch,
    time: new Date(clockMs).toISOString(),
    partitions,
  };
}

/** The file's text. @param key  a private Ed25519 key */
export function signCheckpoint(statement: CheckpointStatement, key: KeyObject): string {
  const publicKey = createPublicKey(key).export({ type: 'spki', format: 'der' }).toString('base64');
  const signature = sign(null, signedBytes(statement), key).toString('base64');
  return `${JSON.stringify({ format: FORMAT, statement, publicKey, signature }, undefined, 2)}\n`;
}

/** @throws INVALID when it is no checkpoint, or was changed since it was signed */
export function readCheckpoint(text: string): ReadCheckpoint {
  const file = parsed(text);
  const { statement } = file;
  const spki = Buffer.from(file.publicKey, 'base64');
  let isSigned: boolean;
  try {
    const key = createPublicKey({ key: spki, type: 'spki', format: 'der' });
    isSigned = verify(null, signedBytes(statement), key, Buffer.from(file.signature, 'base64'));
  } catch (cause) {
    throw new MillraceError('INVALID', 'the checkpoint has no valid public key', {}, cause);
  }
  if (!isSigned) throw new MillraceError('INVALID', 'the checkpoint was changed after it was signed');
  return { statement, fingerprint: fingerprintOf(spki) };
}

/** 32 hex digits. @param spki  the public key as in the file, decoded */
export function fingerprintOf(spki: Uint8Array): string {
  return createHash('sha256').update(spki).digest('hex').slice(0, FINGERPRINT_DIGITS);
}

interface CheckpointFile {
  readonly statement: CheckpointStatement;
  readonly publicKey: string;
  readonly signature: string;
}

function parsed(text: string): CheckpointFile {
  let file: Partial<CheckpointFile & { format: string }> | null;
  try {
    file = JSON.parse(text) as typeof file;
  } catch (cause) {
    throw new MillraceError('INVALID', 'not a checkpoint: it is not JSON', {}, cause);
  }
  const { format, statement, publicKey, signature } = file ?? {};
  if (format !== FORMAT) throw new MillraceError('INVALID', `not a checkpoint of the format ${FORMAT}`);
  const isWhole = typeof publicKey === 'string' && typeof signature === 'string' && Array.isArray(statement?.shards);
  if (!isWhole) throw new MillraceError('INVALID', 'an incomplete checkpoint');
  return file as CheckpointFile;
}

function signedBytes(statement: CheckpointStatement): Buffer {
  return Buffer.from(`${FORMAT}\n${JSON.stringify(statement)}`, 'utf8');
}

function hex(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('hex');
}
