import { looseText, openRecord, type TypeOf } from '../../kernel/schema/index.js';

/** A secret of which the clear text was left outside. */
export const sealedSecret = openRecord({
  /** SHA-256 of the clear text, 64 lower-case hex digits. */
  sha256: looseText(),
  /** The clear text under the key file's key. */
  sealed: looseText(),
});
export type SealedSecret = TypeOf<typeof sealedSecret>;
