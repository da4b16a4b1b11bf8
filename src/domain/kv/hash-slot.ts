/** Redis Cluster's hash slots: CRC16 (XMODEM) of the key, or of its hash tag, modulo 16384. */
import type { ByteString } from '../../kernel/index.js';

export const HASH_SLOTS = 16384;

const table = new Uint16Array(256);
for (let byte = 0; byte < 256; byte += 1) {
  let crc = byte << 8;
  for (let bit = 0; bit < 8; bit += 1) crc = crc & 0x8000 ? (crc << 1) ^ 0x1021 : crc << 1;
  table[byte] = crc & 0xffff;
}

export function hashSlot(key: ByteString): number {
  const hashed = hashTag(key) ?? key;
  let crc = 0;
  for (let i = 0; i < hashed.length; i += 1) {
    crc = ((crc << 8) ^ (table[((crc >>> 8) ^ hashed.charCodeAt(i)) & 0xff] as number)) & 0xffff;
  }
  return crc % HASH_SLOTS;
}

/** What stands between the first brace and the next closing one, if anything does. */
function hashTag(key: ByteString): ByteString | undefined {
  const open = key.indexOf('{');
  if (open < 0) return undefined;
  const close = key.indexOf('}', open + 1);
  return close > open + 1 ? key.slice(open + 1, close) : undefined;
}

/** The slots of one of a database's several partitions. */
export interface HashRange {
  readonly index: number;
  readonly partitions: number;
}

export function isOwnKey({ index, partitions }: HashRange, key: ByteString): boolean {
  return partitionOfSlot(hashSlot(key), partitions) === index;
}

/** Which of a database's partitions holds a slot: even ranges, as a cluster's nodes have them. */
export function partitionOfSlot(slot: number, partitions: number): number {
  return Math.floor((slot * partitions) / HASH_SLOTS);
}
