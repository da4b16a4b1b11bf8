/**
 * Document writes of a search database, as commands for its owner. The rules in domain/search decide the changes as
 * ordinary commands, which are then executed, so the journal contains only effects of those commands.
 *
 * The rows are in the internal command table only, so they are not available to clients, scripts, transactions or ACL
 * rules, and COMMAND does not list them (`commands.ts`).
 */
import { assert, type ByteString } from '../../../../kernel/index.js';
import {
  DOCUMENT_WRITES,
  type DocumentWrite,
  type HeldKeys,
  MAX_INDEX_NAMES,
  VECTOR_WRITES,
} from '../../../search/index.js';
import { NO_KEYS } from '../../command-description.js';
import type { CommandContext, CommandSpec, SlicedHandler } from '../../command-spec.js';
import { MAX_RECORD_BYTES } from '../../limits.js';
import { ErrorReply } from '../../reply.js';
import { hasManyWords, inSlices } from '../../slices.js';
import { HashValue } from '../../types/hash-value.js';
import { SortedSet } from '../../types/sorted-set.js';
import { family } from '../rows.js';
import { memberRange } from '../sorted-set/range.js';

/** The documents of an index are one hash, so the engine's largest value bounds them. */
const BOUNDS = { indexNames: MAX_INDEX_NAMES, indexBytes: MAX_RECORD_BYTES };

export const SEARCH_WRITES: readonly CommandSpec[] = family(
  'server',
  [...Object.values<DocumentWrite>(DOCUMENT_WRITES), ...Object.values<DocumentWrite>(VECTOR_WRITES)].map((write) => ({
    name: write.name,
    arity: -1,
    flags: write.mayGrow === true ? ['write', 'denyoom'] : ['write'],
    // The keys are not among its words.
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
      // On failure the whole write is discarded and the partition is rebuilt.
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
    size: (key) => {
      const held = keyspace.peek(key);
      if (held instanceof SortedSet) return held.size;
      return held instanceof HashValue ? held.visibleSize(nowMs) : 0;
    },
    bytes: (key) => {
      const held = keyspace.peek(key);
      if (held instanceof SortedSet) return held.payloadBytes;
      return held instanceof HashValue ? held.contentBytes : 0;
    },
    idsIn: (key, { from, to }, most) => {
      const set = keyspace.peekKind(key, SortedSet);
      if (set === undefined) return [];
      const ranks = memberRange(from, to)(set);
      return set.membersBetween(ranks.from, Math.min(ranks.to, ranks.from + most));
    },
  };
}
