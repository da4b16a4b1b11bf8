/**
 * Ids of the management API: UUIDs (version 8) computed from our ids, without a table. Our ids have 80 random bits; the
 * rest of the UUID is the kind of id, so kinds are never confused.
 */
import type { AccountId, BackupId, DatabaseId } from '../kernel/index.js';
import { base32OfHex, hexOfBase32, idFrom } from './base32.js';

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-8([0-9a-f]{3})-([0-9a-f]{12})$/;
/** Three hex digits of the UUID. */
const KINDS = { 'db-': '0db', 'ac-': '0ac', 'bk-': '0b0' } as const;
type Prefix = keyof typeof KINDS;

/** @returns lower case, `xxxxxxxx-xxxx-8xxx-8kkk-xxxxxxxxxxxx` with the kind as `kkk` */
export function uuidOf(id: DatabaseId | AccountId | BackupId): string {
  const hex = hexOfBase32(id.slice(3));
  const kind = KINDS[id.slice(0, 3) as Prefix];
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(12, 15)}-8${kind}-${hex.slice(15)}0000000`;
}

/** Undefined when it is not the UUID of a database or search index. */
export function databaseIdOfUuid(uuid: string): DatabaseId | undefined {
  return idOf('db-', uuid) as DatabaseId | undefined;
}

export function accountIdOfUuid(uuid: string): AccountId | undefined {
  return idOf('ac-', uuid) as AccountId | undefined;
}

export function backupIdOfUuid(uuid: string): BackupId | undefined {
  return idOf('bk-', uuid) as BackupId | undefined;
}

/** `bk-` and the low five bits of each of the first 16 bytes. */
export function backupIdFrom(bytes: Uint8Array): BackupId {
  return idFrom('bk-', bytes) as BackupId;
}

function idOf(prefix: Prefix, uuid: string): string | undefined {
  const text = uuid.toLowerCase();
  if (UUID.exec(text)?.[1] !== KINDS[prefix] || !text.endsWith('0000000')) return undefined;
  const digits = text.replaceAll('-', '');
  const hex = digits.slice(0, 12) + digits.slice(13, 16) + digits.slice(20, 25);
  return prefix + base32OfHex(hex);
}
