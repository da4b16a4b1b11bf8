/**
 * Writes of documents, as commands for the owner of a search database: what they do is decided by the rules in
 * domain/search, and done by the commands that those name, so that the journal holds effects of these alone.
 *
 * The rows are in no table that clients are served from, and so they are in no script, transaction, rule of a user or
 * answer of COMMAND (`commands.ts`).
 */
import { assert, type ByteString } from '../../../../kernel/index.js';
import { DOCUMENT_WRITES, type DocumentWrite, type HeldKeys, MAX_INDEX_NAMES } from '../../../search/index.js';
import { type CommandContext, type CommandSpec, NO_KEYS, type SlicedHandler } from '../../command-spec.js';
import { MAX_RECORD_BYTES } from '../../limits.js';
import { ErrorReply } from '../../reply.js';
import { hasManyWords, inSlices } from '../../slices.js';
import { HashValue } from '../../types/hash-value.js';
import { SortedSet } from '../../types/sorted-set.js';
import { family } from '../rows.js';
import { memberRange } from '../sorted-set/range.js';

/** The documents of an index are one hash, and no value of the engine is larger. */
const BOUNDS = { indexNames: MAX_INDEX_NAMES, indexBytes: MAX_RECORD_BYTES };

export const SEARCH_WRITES: readonly CommandSpec[] = family(
  'server',
  Object.values<DocumentWrite>(DOCUMENT_WRITES).map((write) => ({
    name: write.name,
    arity: -1,
    flags: write.mayGrow === true ? ['write', 'denyoom'] : ['write'],
    // It looks at keys that it does not name.
    keys: NO_KEYS,
    acrossPartitions: 'first',
    ...inSlices(decidedBy(write), write.isOfAll === true ? () => true : hasManyWords),
    summary: 'A write of documents.',
    since: '',
  })),
);

function decidedBy(write: DocumentWrite): SlicedHandler {
  return function* (context) {
    const { changes, answer } = write.decide(heldIn(context), context.args.words.slice(1), BOUNDS);
    for (const words of changes) {
      const spec = context.commands.find(words);
      assert(spec !== undefined, 'a write of documents is made of an unknown command', { command: words[0] });
      const reply = yield* context.callInSlices(spec, words);
      const refusal = reply instanceof ErrorReply ? reply.text : undefined;
      // Nothing of the write is kept then: the partition is built again.
      assert(refusal === undefined, 'a part of a write of documents was refused', { refusal });
    }
    return answer;
  };
}

function heldIn({ keyspace, nowMs }: CommandContext): HeldKeys {
  const hash = (key: ByteString) => keyspace.peekKind(key, HashValue);
  return {
    field: (key, field) => hash(key)?.get(field, nowMs),
    *fields(key) {
      for (const [field] of hash(key)?.entries(nowMs) ?? []) yield field;
    },
    size: (key) => hash(key)?.visibleSize(nowMs) ?? 0,
    idsIn: (key, { from, to }, most) => {
      const set = keyspace.peekKind(key, SortedSet);
      if (set === undefined) return [];
      const ranks = memberRange(from, to)(set);
      return set.membersBetween(ranks.from, Math.min(ranks.to, ranks.from + most));
    },
  };
}
