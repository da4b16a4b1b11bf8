/** How a journal's bytes are read: each time anew, or once for all who read the same message. */
import { obtain } from '../../kernel/index.js';
import type { JournalMessage, Section } from '../../messages/index.js';
import { decodeMessage, hashSection, sha256 } from './entry-codec.js';

export interface EntryReading {
  /** @throws JOURNAL_DAMAGED */
  message(bytes: Uint8Array): JournalMessage;
  /** Of a whole entry. */
  hash(bytes: Uint8Array): Uint8Array;
  sectionHash(section: Section): Uint8Array;
}

export const readAnew: EntryReading = { message: decodeMessage, hash: sha256, sectionHash: hashSection };

/** What one has read of the same bytes, the next one takes, for as long as somebody has them. */
export function readOnce(): EntryReading {
  return { message: once(decodeMessage), hash: once(sha256), sectionHash: once(hashSection) };
}

function once<From extends object, To extends object>(read: (from: From) => To): (from: From) => To {
  const known = new WeakMap<From, To>();
  return (from) => obtain(known, from, () => read(from));
}
