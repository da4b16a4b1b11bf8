import { looseText, openRecord, type TypeOf } from '../../kernel/schema/index.js';

/** A secret without its clear text. */
export const sealedSecret = openRecord({
  /** SHA-256 of the clear text, 64 lower-case hex digits. */
  sha256: looseText(),
  /** The clear text, encrypted with the key of the key file. */
  sealed: looseText(),
});
export type SealedSecret = TypeOf<typeof sealedSecret>;
