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

/** The text between the first `{` and the next `}`, if not empty. */
function hashTag(key: ByteString): ByteString | undefined {
  const open = key.indexOf('{');
  if (open < 0) return undefined;
  const close = key.indexOf('}', open + 1);
  return close > open + 1 ? key.slice(open + 1, close) : undefined;
}

/** Identifies the slots of one of a database's partitions. */
export interface HashRange {
  readonly index: number;
  readonly partitions: number;
  /** The number of the layout's first partition; undefined: 0, that of the first layout. */
  readonly firstPartition?: number | undefined;
}

export function isOwnKey({ index, partitions }: HashRange, key: ByteString): boolean {
  return partitionOfSlot(hashSlot(key), partitions) === index;
}

/** The partition that holds a slot: even ranges, like the nodes of a cluster. */
export function partitionOfSlot(slot: number, partitions: number): number {
  return Math.floor((slot * partitions) / HASH_SLOTS);
}

/** The first slot of a partition; the last one is before that of the next partition. */
export function firstSlotOf(index: number, partitions: number): number {
  return Math.ceil((index * HASH_SLOTS) / partitions);
}
