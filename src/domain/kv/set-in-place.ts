/**
 * The commonest effect where it lies: `SET key value` in a block of effects. Most of what a replay reads is that, and its
 * words end as bytes in pages: between the one and the other they need not be strings.
 */
import type { ByteString } from '../../kernel/index.js';

/** Whoever reads a block has one of them, and fills it in anew for each command. */
export class SetInPlace {
  bytes: Buffer = Buffer.alloc(0);
  keyAt = 0;
  keyLength = 0;
  valueAt = 0;
  valueLength = 0;

  get key(): ByteString {
    return this.bytes.toString('latin1', this.keyAt, this.keyAt + this.keyLength);
  }

  get value(): ByteString {
    return this.bytes.toString('latin1', this.valueAt, this.valueAt + this.valueLength);
  }
}
