/** The documents in the answers of SEARCH.QUERY: whole or selected fields, with marked words. */
import { type ByteString, bytesOfText, textOfBytes } from '../../../../kernel/index.js';
import {
  type FieldValue,
  type IndexField,
  MAX_HIGHLIGHTED_BYTES,
  type RankedDocument,
  TextField,
} from '../../../full-text/index.js';
import type { AnswerSize } from '../../answer-size.js';
import type { CommandContext } from '../../command-spec.js';
import { DoubleReply, ErrorReply, type Reply } from '../../reply.js';
import { rootOf, stepsOf, valueAt } from '../../search-documents.js';
import type { SearchedIndex } from '../../search-registry.js';
import { SlicePace } from '../../slices.js';
import { SLICE_ITEMS, type Steps } from '../../steps.js';
import { HashValue } from '../../types/hash-value.js';
import { COMPACT, isContainer, type JsonMembers, type JsonValue, writeJson } from '../../types/json/index.js';
import { Stream } from '../../types/stream.js';
import { formatId } from '../../types/stream-id.js';
import type { QueryWords } from './query-words.js';

type Mark = (text: ByteString) => Steps<ByteString>;
type Pairs = Map<ByteString, ByteString>;

export class DocumentAnswers {
  /** The fields to mark, with the function that does it. */
  readonly #marks = new Map<string, Mark>();
  #markedBytes = 0;

  constructor(
    private readonly context: CommandContext,
    private readonly live: SearchedIndex,
    private readonly words: QueryWords,
    termsByField: ReadonlyMap<string, ReadonlySet<string>>,
    private readonly size: AnswerSize,
  ) {
    for (const path of words.marked) {
      const terms = termsByField.get(path);
      const field = live.contents.field(path);
      if (terms === undefined || !(field instanceof TextField)) continue;
      const [before, after] = words.tags;
      this.#marks.set(path, (bytes) => {
        this.#markedBytes += bytes.length;
        if (this.#markedBytes > MAX_HIGHLIGHTED_BYTES) throw tooMuchToMark;
        return asBytes(field.analysis.marked(textOfBytes(bytes), (term) => terms.has(term), before, after));
      });
    }
  }

  /** [key, score, pairs]; undefined if the document is not there any more. */
  *answerOf({ ordinal, score, value }: RankedDocument): Steps<Reply | undefined> {
    const key = this.live.contents.keyAt(ordinal);
    const isEntry = this.live.definition.stream !== undefined;
    const shownKey = isEntry ? formatId(key) : key;
    this.size.add(shownKey.length);
    const shownScore = this.words.order === undefined ? new DoubleReply(score) : scalarReply(value);
    if (!this.words.hasContent) return [shownKey, shownScore];
    const pairs = yield* isEntry ? this.#ofEntry(key) : this.#ofKey(key);
    return pairs === undefined ? undefined : [shownKey, shownScore, pairs];
  }

  *#ofKey(key: ByteString): Steps<Reply | undefined> {
    const { keyspace, nowMs } = this.context;
    const { definition } = this.live;
    const value = keyspace.isThere(key) ? keyspace.stored(key) : undefined;
    const root = value === undefined ? undefined : yield* rootOf(value, definition.source);
    if (root === undefined) return undefined;
    if (root instanceof HashValue) return yield* this.#ofHash(root, nowMs);
    const json = yield* this.#marked(root.json);
    if (this.words.selected !== undefined) return yield* this.#selected(json);
    const isAsStored = typeof value === 'string' && this.#marks.size === 0;
    const text = isAsStored ? value : yield* writeJson(json);
    this.size.add(text.length);
    return [['$', text]];
  }

  *#ofEntry(id: ByteString): Steps<Reply | undefined> {
    const { stream } = this.live.definition;
    const value = this.context.keyspace.stored(stream as ByteString);
    const entry = value instanceof Stream ? value.entry(id) : undefined;
    if (entry === undefined) return undefined;
    return yield* this.#ofPairs(new Map(entry.names.map((name, at) => [name, entry.values[at] as ByteString])));
  }

  /** Only the selected fields are read; of all fields, no more than fit the answer. */
  *#ofHash(hash: HashValue, nowMs: number): Steps<Reply> {
    const pairs: Pairs = new Map();
    for (const path of this.words.selected ?? []) {
      const name = this.#nameOf(path);
      const value = hash.get(name, nowMs);
      if (value !== undefined) pairs.set(name, value);
    }
    if (this.words.selected === undefined) {
      const pace = new SlicePace();
      for (const [name, value] of hash.entries(nowMs)) {
        pairs.set(name, value);
        this.size.requireItems(pairs.size);
        if (pace.isDue()) yield;
      }
    }
    return yield* this.#ofPairs(pairs);
  }

  *#ofPairs(pairs: Pairs): Steps<Reply> {
    for (const field of this.live.definition.fields) {
      const mark = this.#marks.get(field.path);
      const name = bytesOfText(field.from ?? field.path);
      const value = pairs.get(name);
      if (mark !== undefined && value !== undefined) pairs.set(name, yield* mark(value));
    }
    const wanted = this.words.selected?.map((path) => [bytesOfText(path), this.#nameOf(path)] as const);
    const shown: Reply[] = [];
    const pace = new SlicePace();
    for (const [name, source] of wanted ?? [...pairs.keys()].map((name) => [name, name] as const)) {
      if (pace.isDue()) yield;
      const value = pairs.get(source);
      if (value === undefined) continue;
      this.size.add(name.length + value.length);
      shown.push([name, value]);
    }
    return shown;
  }

  *#selected(root: JsonValue): Steps<Reply> {
    const shown: Reply[] = [];
    for (const path of this.words.selected ?? []) {
      const field = this.#fieldAt(path);
      const value = valueAt(root, field === undefined ? bytesOfText(path).split('.') : stepsOf(field));
      if (value === undefined) continue;
      const text = typeof value === 'string' ? value : yield* writeJson(value, COMPACT);
      this.size.add(path.length + text.length);
      shown.push([bytesOfText(path), text]);
    }
    return shown;
  }

  #fieldAt(path: string): IndexField | undefined {
    return this.live.contents.field(path)?.field;
  }

  #nameOf(path: string): ByteString {
    return bytesOfText(this.#fieldAt(path)?.from ?? path);
  }

  /** The document with marked texts; parts without any are shared. */
  *#marked(root: JsonValue): Steps<JsonValue> {
    let marked = root;
    for (const [path, mark] of this.#marks) {
      const field = this.#fieldAt(path);
      if (field !== undefined) marked = yield* markedAt(marked, stepsOf(field), 0, mark);
    }
    return marked;
  }
}

const tooMuchToMark = new ErrorReply(
  `ERR HIGHLIGHT marks words in at most ${MAX_HIGHLIGHTED_BYTES} bytes of text: ask for fewer documents`,
);

function* asBytes(text: Steps<string>): Steps<ByteString> {
  return bytesOfText(yield* text);
}

function* markedAt(value: JsonValue, steps: readonly ByteString[], depth: number, mark: Mark): Steps<JsonValue> {
  if (typeof value === 'string') return depth === steps.length ? yield* mark(value) : value;
  if (!isContainer(value)) return value;
  if (Array.isArray(value)) {
    const items: JsonValue[] = [];
    for (const item of value) {
      items.push(yield* markedAt(item, steps, depth, mark));
      if (items.length % SLICE_ITEMS === 0) yield;
    }
    return items;
  }
  const name = steps[depth];
  const member = name === undefined ? undefined : value.get(name);
  if (name === undefined || member === undefined) return value;
  const copy: JsonMembers = new Map(value);
  copy.set(name, yield* markedAt(member, steps, depth + 1, mark));
  return copy;
}

/** A value of a field in an answer. */
export function scalarReply(value: FieldValue | undefined): Reply {
  if (value === undefined) return null;
  if (typeof value === 'string') return bytesOfText(value);
  if (typeof value === 'boolean') return value ? 1 : 0;
  return typeof value === 'bigint' || Number.isSafeInteger(value) ? value : new DoubleReply(value);
}
