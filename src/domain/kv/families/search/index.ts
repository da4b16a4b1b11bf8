/**
 * Writes of documents, as commands for the owner of a search database: what they do is decided by the rules in
 * domain/search, and done by the commands that those name, so that the journal holds effects of these alone.
 *
 * The rows are in no table that clients are served from, and so they are in no script, transaction, rule of a user or
 * answer of COMMAND (`commands.ts`).
 */
import { assert } from '../../../../kernel/index.js';
import {
  DOCUMENT_WRITES,
  type DocumentWrite,
  type HeldHash,
  type HeldKeys,
  MAX_INDEX_NAMES,
} from '../../../search/index.js';
import { type CommandContext, type CommandSpec, family, NO_KEYS, type SlicedHandler } from '../../command-spec.js';
import { MAX_RECORD_BYTES } from '../../limits.js';
import { ErrorReply } from '../../reply.js';
import { hasManyWords, inSlices } from '../../slices.js';
import { HashValue } from '../../types/hash-value.js';
import { SortedSet } from '../../types/sorted-set.js';
import { memberRange } from '../sorted-set/range.js';

/** The documents of an index are one hash, and no value of the engine is larger. */
const BOUNDS = { indexNames: MAX_INDEX_NAMES, indexBytes: MAX_RECORD_BYTES };

export const SEARCH_WRITES: readonly CommandSpec[] = family(
  'server',
  Object.values<DocumentWrite>(DOCUMENT_WRITES).map((write) => ({
    name: write.name,
    arity: write.arity,
    flags: write.mayGrow === true ? ['write', 'denyoom'] : ['write'],
    // It looks at keys that it does not name.
    keys: NO_KEYS,
    acrossPartitions: 'first',
    ...inSlices(decidedBy(write), write.isOfAll === true ? () => true : hasManyWords),
    summary: write.summary,
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
      // Then nothing of it is kept: the partition is built again.
      assert(!(reply instanceof ErrorReply), 'a part of a write of documents was refused', { reply: String(reply) });
    }
    return answer;
  };
}

function heldIn({ keyspace, nowMs }: CommandContext): HeldKeys {
  return {
    hash: (key) => {
      const hash = keyspace.peekKind(key, HashValue);
      return hash === undefined ? undefined : asMap(hash, nowMs);
    },
    idsIn: (key, { from, to }, most) => {
      const set = keyspace.peekKind(key, SortedSet);
      if (set === undefined) return [];
      const ranks = memberRange(from, to)(set);
      return set.membersBetween(ranks.from, Math.min(ranks.to, ranks.from + most));
    },
  };
}

function asMap(hash: HashValue, nowMs: number): HeldHash {
  return {
    size: hash.visibleSize(nowMs),
    get: (field) => hash.get(field, nowMs),
    has: (field) => hash.has(field, nowMs),
    *keys() {
      for (const [field] of hash.entries(nowMs)) yield field;
    },
  };
}
