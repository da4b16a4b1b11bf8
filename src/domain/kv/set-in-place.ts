/**
 * `SET key value` read directly from a block of effects. It is the most frequent effect in a replay, and its words end
 * as bytes in pages, so creating strings in between is avoided.
 */
import type { ByteString } from '../../kernel/index.js';

/** A reader of a block reuses one object for all commands. */
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
